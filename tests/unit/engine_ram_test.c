/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/engine/service/ram.c: guest RAM that changes while there are clients, and while there are none.
 */
#include "tests/unit/engine_client.h"

#include <string.h>
#include <time.h>

#include "vmm-probe/engine/backend.h"

#define WAIT_MS 20000

/* What the backend finds, and what it was told. The engine's thread is the only one that calls it. */
static struct {
	_Atomic uint64_t number; /* 0: can't be said */
	_Atomic uint64_t kept;   /* the last let_go()'s; UINT64_MAX: there was none */
	_Atomic unsigned finds;
} ram;

static const struct vp_ram_range ranges[] = {
	{ .gpa = 0, .size = 0x10000, .host = 0x10000, .fd_index = -1 },
	{ .gpa = 0x100000, .size = 0x10000, .host = 0x40000, .fd_index = -1 },
	{ .gpa = 0x200000, .size = 0x10000, .host = 0x80000, .fd_index = -1 },
};

static struct ot_err *find(void *backend, bool patient, struct vp_ram_layout *ret)
{
	uint64_t number = ram.number;

	(void)backend;
	(void)patient;
	ram.finds++;
	if (!number)
		return ot_err_new(OT_ERR_BUSY, "nobody answers");
	*ret = (struct vp_ram_layout){ ranges, NULL, number % 2 ? 3 : 2, 0, number };
	return NULL;
}

static void let_go(void *backend, uint64_t number)
{
	(void)backend;
	ram.kept = number;
}

static const struct vp_backend_ram layouts = { .find = find, .let_go = let_go };

static struct ef *serve(uint64_t number)
{
	ram.number = number;
	ram.kept = UINT64_MAX;
	ram.finds = 0;
	struct ef *f = ec_create();
	vp_fake_set_layouts(f->fake, &layouts);
	ec_start(f);
	return f;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

static void await_kept(uint64_t number)
{
	for (unsigned i = 0; i < WAIT_MS && ram.kept != number; i++)
		nap();
	assert_int_equal(ram.kept, number);
}

static struct ec_client *greet(unsigned nranges)
{
	struct ec_client *c = ec_dial();

	ec_hello(c);
	const struct vp_msg_hello_reply *h = (const void *)c->reply;
	assert_int_equal(h->nram, nranges);
	assert_memory_equal(h->ram, ranges, nranges * sizeof(ranges[0]));
	return c;
}

static enum vp_guest_end end_of(struct ef *f)
{
	return (enum vp_guest_end)__atomic_load_n(&ef_status(f, 0)->guest_end, __ATOMIC_ACQUIRE);
}

static void start(struct ef *f, struct ec_client *c)
{
	ec_open_session(f, c);
	ec_enable(f, c);
	ec_simple(c, VP_MSG_START, 0);
}

static void is_looked_for_at_each_hello(void **state)
{
	struct ef *f = serve(1);
	(void)state;

	assert_int_equal(ram.finds, 0);
	ec_drop(greet(3));
	ram.number = 2;
	struct ec_client *c = greet(2);
	assert_true(ram.finds >= 2);
	assert_true(ec_ask_bare(c, VP_MSG_SNAPSHOT, NULL, 0));
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_SNAPSHOT_REPLY);
	ec_drop(c);
	await_kept(0); /* without a client nothing is kept */
	unsigned finds = ram.finds;
	ec_drop(greet(2));
	assert_true(ram.finds > finds);
	ef_destroy(f);
	assert_int_equal(ram.kept, 0);
}

static void not_known(void **state)
{
	struct ef *f = serve(0);
	(void)state;

	struct ec_client *c = greet(0);
	assert_true(ec_ask_bare(c, VP_MSG_SNAPSHOT, NULL, 0));
	assert_int_equal(ec_reply_code(c), OT_ERR_BUSY);
	const struct vp_msg_reply *r = (const void *)c->reply;
	assert_string_equal(r->text, "the guest's RAM is not known: nobody answers");
	ec_drop(c);
	ram.number = 1;
	ec_drop(greet(3));
	ef_destroy(f);
}

/* The session that began with other memory ends; one that has begun with the present one goes on. Until the
 * first has gone, its memory is kept. */
static void a_change_ends_sessions(void **state)
{
	struct ef *f = serve(1);
	(void)state;

	struct ec_client *c = greet(3);
	start(f, c);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ram.number = 2;
	for (unsigned i = 0; i < WAIT_MS && end_of(f) == VP_GUEST_RUNS; i++)
		nap();
	assert_int_equal(end_of(f), VP_GUEST_CHANGED);
	ec_wait_for_sites(f, 0);
	assert_int_equal(ram.kept, UINT64_MAX);
	struct ec_client *later = greet(2);
	ec_drop(c);
	await_kept(2);
	ec_unmap_shared(f);
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, 0);
	start(f, later);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_int_equal(end_of(f), VP_GUEST_RUNS);
	ec_drop(later);
	ec_wait_for_sites(f, 0);
	await_kept(0);
	ec_unmap_shared(f);
	ef_destroy(f);
}

/* A client whose HELLO_REPLY had another layout can open no session. */
static void a_change_before_open(void **state)
{
	struct ef *f = serve(1);
	(void)state;

	struct ec_client *c = greet(3);
	ram.number = 2;
	ec_drop(greet(2));
	int fds[EC_OPEN_FDS];
	ec_open_fds(f, fds);
	f->open.head = (struct vp_msg){ VP_MSG_OPEN, sizeof(f->open) };
	assert_true(ec_ask(c, &f->open, sizeof(f->open), fds, EC_OPEN_FDS));
	assert_int_equal(ec_reply_code(c), OT_ERR_BUSY);
	ec_close_fds(fds, EC_OPEN_FDS);
	ec_drop(c);
	ef_destroy(f);
}

/* What can't be said for a while changes nothing. */
static void silence_ends_nothing(void **state)
{
	struct ef *f = serve(1);
	(void)state;

	struct ec_client *c = greet(3);
	start(f, c);
	ram.number = 0;
	for (unsigned finds = ram.finds; ram.finds < finds + 3;)
		nap();
	assert_int_equal(end_of(f), VP_GUEST_RUNS);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	ec_drop(greet(3));
	ec_drop(c);
	ec_unmap_shared(f);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_looked_for_at_each_hello), cmocka_unit_test(not_known),
		cmocka_unit_test(a_change_ends_sessions),      cmocka_unit_test(a_change_before_open),
		cmocka_unit_test(silence_ends_nothing),
	};

	return cmocka_run_group_tests(tests, ec_make_dir, ec_remove_dir);
}
