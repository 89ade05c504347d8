/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vmm-probe/backend/tcg/layout.c in a process that exports what a QEMU does: its machine is a list of blocks,
 * each with the count of its users, and its main loop a thread that can be slow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/backend/tcg/tcg.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

#define MODEL __attribute__((visibility("default")))

struct vp_tcg vp_tcg;

struct block {
	uint64_t gpa, size, host;
	_Atomic int users;
	bool plugged;
};

static struct {
	pthread_mutex_t lock;
	struct block blocks[200];
	unsigned n;
	_Atomic bool slow, mute; /* the main loop waits; the monitor knows no command */
	_Atomic int calls;       /* of the main loop, that are not done */
} model = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* --- what QEMU exports ---------------------------------------------------------------------------------- */

MODEL char *qmp_human_monitor_command(const char *line, bool has_cpu, int64_t cpu, void **err);
MODEL void aio_bh_schedule_oneshot_full(void *ctx, void (*cb)(void *), void *opaque, const char *name);
MODEL void *qemu_get_aio_context(void);
MODEL void error_free(void *err);
MODEL void g_free(void *p);
MODEL void *memory_region_from_host(void *host, uint64_t *offset);
MODEL void memory_region_ref(void *region);
MODEL void memory_region_unref(void *region);

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static char *mtree(void)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	fprintf(f, "FlatView #0\n AS \"memory\", root: system\n");
	for (unsigned i = 0; i < model.n; i++)
		if (model.blocks[i].plugged)
			fprintf(f, "  %016llx-%016llx (prio 0, ram): b%u\n",
				(unsigned long long)model.blocks[i].gpa,
				(unsigned long long)(model.blocks[i].gpa + model.blocks[i].size - 1), i);
	fclose(f);
	return text;
}

static struct block *block_at(uint64_t at, bool by_host)
{
	for (unsigned i = 0; i < model.n; i++) {
		struct block *b = &model.blocks[i];
		if (at - (by_host ? b->host : b->gpa) < b->size && (by_host || b->plugged))
			return b;
	}
	return NULL;
}

char *qmp_human_monitor_command(const char *line, bool has_cpu, int64_t cpu, void **err)
{
	char *text = NULL;
	uint64_t gpa;

	(void)has_cpu;
	(void)cpu;
	pthread_mutex_lock(&model.lock);
	if (!strcmp(line, "info mtree -f") && !model.mute) {
		text = mtree();
	} else if (sscanf(line, "gpa2hva 0x%lx", &gpa) == 1) {
		const struct block *b = block_at(gpa, false);
		if (!b || asprintf(&text, "Host virtual address for 0x%lx (b) is 0x%lx\n", gpa,
				   b->host + (gpa - b->gpa)) < 0)
			text = strdup("No memory is mapped at address\n");
	} else {
		*err = &model;
	}
	pthread_mutex_unlock(&model.lock);
	return text;
}

struct call {
	void (*cb)(void *);
	void *opaque;
};

static void *main_loop(void *arg)
{
	struct call call = *(struct call *)arg;

	free(arg);
	while (model.slow)
		nap();
	call.cb(call.opaque);
	model.calls--;
	return NULL;
}

void aio_bh_schedule_oneshot_full(void *ctx, void (*cb)(void *), void *opaque, const char *name)
{
	struct call *call = malloc(sizeof(*call));
	pthread_t thread;

	(void)name;
	assert_ptr_equal(ctx, &model);
	*call = (struct call){ cb, opaque };
	model.calls++;
	assert_int_equal(pthread_create(&thread, NULL, main_loop, call), 0);
	pthread_detach(thread);
}

void *qemu_get_aio_context(void)
{
	return &model;
}

void error_free(void *err)
{
	assert_ptr_equal(err, &model);
}

void g_free(void *p)
{
	free(p);
}

void *memory_region_from_host(void *host, uint64_t *offset)
{
	struct block *b = block_at((uintptr_t)host, true);

	if (b)
		*offset = (uintptr_t)host - b->host;
	return b;
}

void memory_region_ref(void *region)
{
	((struct block *)region)->users++;
}

void memory_region_unref(void *region)
{
	assert_true(((struct block *)region)->users-- > 0);
}

/* --- the tests ------------------------------------------------------------------------------------------ */

static void settle(void)
{
	while (model.calls)
		nap();
}

static void plug(uint64_t gpa, uint64_t size, uint64_t host)
{
	pthread_mutex_lock(&model.lock);
	model.blocks[model.n++] = (struct block){ .gpa = gpa, .size = size, .host = host, .plugged = true };
	pthread_mutex_unlock(&model.lock);
}

static int setup(void **state)
{
	(void)state;
	model.n = 0;
	model.slow = model.mute = false;
	/* two nodes around the hole below 4 GiB, and a DIMM */
	plug(0, 256 * MIB, 64 * GIB);
	plug(256 * MIB, 256 * MIB, 32 * GIB);
	plug(4 * GIB, GIB, 96 * GIB);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	model.slow = false;
	settle();
	vp_tcg_layouts.let_go(NULL, 0);
	settle();
	for (unsigned i = 0; i < model.n; i++)
		assert_int_equal(model.blocks[i].users, 0);
	return 0;
}

static bool is_silence(const struct ot_err *err)
{
	return err && strstr(ot_err_message(err), "does not answer");
}

/* Unless the main loop is to be slow, a busy machine is waited for. */
static struct ot_err *ask(struct vp_ram_layout *ret)
{
	struct ot_err *err = vp_tcg_layouts.find(NULL, false, ret);

	while (is_silence(err) && !model.slow) {
		ot_err_destroy(err);
		err = vp_tcg_layouts.find(NULL, true, ret);
	}
	return err;
}

static struct vp_ram_layout find(void)
{
	struct vp_ram_layout ret;
	struct ot_err *err = ask(&ret);

	assert_null(err);
	return ret;
}

static void refused(enum ot_err_code code, const char *why)
{
	struct vp_ram_layout ret;
	struct ot_err *err = ask(&ret);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	assert_non_null(strstr(ot_err_message(err), why));
	ot_err_destroy(err);
}

static uint64_t host_of(uint64_t gpa, uint64_t *ret_len)
{
	const struct vp_tcg_layout *layout = atomic_load(&vp_tcg.layout);

	return layout ? (uintptr_t)vp_tcg_layout_host(layout, gpa, ret_len) : 0;
}

static void several_blocks(void **state)
{
	struct vp_ram_layout l = find();
	uint64_t len;

	(void)state;
	assert_true(vp_tcg_layout_can_find());
	assert_int_equal(l.nranges, 4); /* video memory and shadow are left out */
	assert_int_equal(l.ranges[1].gpa, MIB);
	assert_int_equal(host_of(0x1234, &len), 64 * GIB + 0x1234);
	assert_int_equal(len, 0xa0000 - 0x1234);
	assert_int_equal(host_of(0xb8000, &len), 0);
	assert_int_equal(host_of(256 * MIB - 1, &len), 64 * GIB + 256 * MIB - 1);
	assert_int_equal(len, 1);
	assert_int_equal(host_of(256 * MIB, &len), 32 * GIB);
	assert_int_equal(host_of(512 * MIB, &len), 0);
	assert_int_equal(host_of(5 * GIB - 8, &len), 97 * GIB - 8);
	assert_int_equal(host_of(5 * GIB, &len), 0);
	assert_int_equal(host_of(UINT64_MAX, &len), 0);
	assert_int_equal(model.blocks[0].users, 1);
	assert_int_equal(model.blocks[2].users, 1);
}

static void the_same_is_one_layout(void **state)
{
	struct vp_ram_layout a = find(), b = find();

	(void)state;
	assert_int_equal(a.number, b.number);
	assert_int_equal(model.blocks[1].users, 1);
}

/* The memory that is unplugged is kept until it is let go. */
static void unplugged(void **state)
{
	struct vp_ram_layout a = find(), b;
	uint64_t len;

	(void)state;
	pthread_mutex_lock(&model.lock);
	model.blocks[2].plugged = false;
	pthread_mutex_unlock(&model.lock);
	assert_int_not_equal(host_of(4 * GIB, &len), 0);
	b = find();
	assert_int_not_equal(a.number, b.number);
	assert_int_equal(b.nranges, 3);
	assert_int_equal(host_of(4 * GIB, &len), 0);
	assert_int_equal(model.blocks[2].users, 1);
	assert_int_equal(model.blocks[0].users, 2); /* of either layout */
	vp_tcg_layouts.let_go(NULL, b.number);
	settle();
	assert_int_equal(model.blocks[2].users, 0);
	assert_int_equal(model.blocks[0].users, 1);
}

static void plugged(void **state)
{
	struct vp_ram_layout a = find(), b;
	uint64_t len;

	(void)state;
	plug(8 * GIB, 128 * MIB, 128 * GIB);
	b = find();
	assert_int_not_equal(a.number, b.number);
	assert_int_equal(host_of(8 * GIB + 5, &len), 128 * GIB + 5);
	vp_tcg_layouts.let_go(NULL, 0);
	assert_int_equal(host_of(8 * GIB + 5, &len), 0);
	settle();
	assert_int_equal(model.blocks[3].users, 0);
	assert_int_not_equal(find().number, a.number);
}

/* A main loop that does not answer leaves all as it was; its late answer is taken, or dropped. */
static void slow_main_loop(void **state)
{
	struct vp_ram_layout a;
	uint64_t len;

	(void)state;
	model.slow = true;
	refused(OT_ERR_BUSY, "QEMU's main loop does not answer");
	assert_int_equal(host_of(0, &len), 0);
	model.slow = false;
	a = find();
	model.slow = true;
	plug(8 * GIB, 128 * MIB, 128 * GIB);
	refused(OT_ERR_BUSY, "QEMU's main loop does not answer");
	refused(OT_ERR_BUSY, "QEMU's main loop does not answer");
	assert_int_equal(host_of(0, &len), 64 * GIB);
	assert_true(model.calls == 1); /* one call answers all */
	vp_tcg_layouts.let_go(NULL, 0);
	model.slow = false;
	settle();
	assert_int_equal(model.blocks[3].users, 0);
	assert_int_equal(model.blocks[0].users, 0);
	assert_int_not_equal(find().number, a.number);
}

static void what_the_monitor_does_not_say(void **state)
{
	(void)state;
	model.mute = true;
	refused(OT_ERR_BUSY, "QEMU's monitor has no `info mtree`");
	model.mute = false;
	model.n = 0;
	refused(OT_ERR_BUSY, "the machine has none yet");
	for (unsigned i = 0; i < VP_RAM_RANGES_MAX; i++)
		plug((i + 1) * GIB, 128 * MIB, (i + 64) * GIB);
	refused(OT_ERR_BUSY, "it is in too many pieces");
	for (unsigned i = 0; i < model.n; i++)
		assert_int_equal(model.blocks[i].users, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(several_blocks, setup, teardown),
		cmocka_unit_test_setup_teardown(the_same_is_one_layout, setup, teardown),
		cmocka_unit_test_setup_teardown(unplugged, setup, teardown),
		cmocka_unit_test_setup_teardown(plugged, setup, teardown),
		cmocka_unit_test_setup_teardown(slow_main_loop, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_monitor_does_not_say, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
