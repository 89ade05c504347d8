/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/budget, and guests that want to decide how much memory and time reading them takes. */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "btf_builder.h"
#include "guest_fixture.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/symtab.h"

#define MIB 1048576u

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false, false };

/* --- the budget itself ------------------------------------------------------------------------------- */

/* Records like those of vp_readings. */
static struct vp_reading reading(const char *what, uint32_t memory_mib, uint32_t cpu_ms)
{
	return (struct vp_reading){ what, 1, memory_mib, cpu_ms, 0, "so be it" };
}

static void each_part_has_its_memory(void **state)
{
	const struct vp_reading symbols = reading("the symbols", 2, 1000),
				types = reading("the types", 1, 1000);
	struct vp_budget budget;

	(void)state;
	assert_ok(vp_budget_take(1ull << 40)); /* unbounded */
	vp_budget_begin(&budget, &symbols, false);
	assert_ok(vp_budget_take(2 * MIB));
	assert_err(vp_budget_take(1), OT_ERR_LIMIT,
		   "reading the symbols takes more than its 2 MiB of memory: so be it");
	vp_budget_give(MIB);
	assert_ok(vp_budget_take(MIB));
	vp_budget_part(&types);
	assert_ok(vp_budget_take(MIB));
	assert_err(vp_budget_take(MIB), OT_ERR_LIMIT, "the types");
	vp_budget_end(&budget);
	assert_ok(vp_budget_take(1ull << 40));
}

static void *spin(void *stop)
{
	while (!atomic_load((atomic_bool *)stop))
		;
	return NULL;
}

/* On a CPU that many others want, waiting for it is no time of the guest's; sleeping is. */
static void waiting_for_a_cpu_does_not_count(void **state)
{
	struct vp_reading slow = reading("the whole", 1, 1000000);
	struct vp_budget budget;
	pthread_t others[9];
	atomic_bool stop = false;
	cpu_set_t all, one;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0); /* the threads inherit it */
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++)
		assert_int_equal(pthread_create(&others[i], NULL, spin, &stop), 0);
	slow.wall_ms = 400;
	vp_budget_begin(&budget, &slow, false);
	uint64_t end = ot_now_ns() + 500 * 1000000ull * (budget.wall_ms / slow.wall_ms);
	while (ot_now_ns() < end)
		;
	assert_false(vp_budget_is_over());
	atomic_store(&stop, true);
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++)
		pthread_join(others[i], NULL);
	usleep((useconds_t)(budget.wall_ms * 1000));
	assert_true(vp_budget_is_over());
	vp_budget_end(&budget);
	assert_int_equal(sched_setaffinity(0, sizeof(all), &all), 0);
}

static void each_part_has_its_time(void **state)
{
	const struct vp_reading whole = reading("the whole", 1, 1000000), types = reading("the types", 1, 20);
	const struct vp_reading modules = reading("the modules", 1, 100000);
	struct vp_reading symbols = reading("the symbols", 1, 1000000);
	struct vp_budget outer, budget;
	struct ot_err *err = NULL;

	(void)state;
	vp_budget_begin(&outer, &whole, false);
	vp_budget_begin(&budget, &types, false);
	assert_ok(vp_budget_check());
	while (!err) /* ends by the budget, or never */
		err = vp_budget_check();
	assert_err(err, OT_ERR_LIMIT, "reading the types takes more than its 20 ms of CPU time: so be it");
	vp_budget_part(&modules);
	assert_ok(vp_budget_check());
	vp_budget_end(&budget);
	assert_ok(vp_budget_check());
	vp_budget_end(&outer);

	symbols.wall_ms = 20;
	vp_budget_begin(&budget, &symbols, false);
	for (err = NULL; !err;)
		err = vp_budget_check();
	assert_err(err, OT_ERR_LIMIT, "given up at the symbols");
	vp_budget_end(&budget);
}

/* More than its bytes of the guest end a part, also one without limits of time, until the next part begins.
 */
static void each_part_has_its_bytes(void **state)
{
	const struct vp_reading symbols = reading("the symbols", 1, 1000),
				types = reading("the types", 1, 1000);
	struct vp_budget budget;

	(void)state;
	assert_ok(vp_budget_read(1ull << 40)); /* unbounded */
	vp_budget_begin(&budget, &symbols, true);
	assert_ok(vp_budget_read(MIB));
	assert_false(vp_budget_is_over());
	assert_err(vp_budget_read(1), OT_ERR_LIMIT,
		   "reading the symbols takes more than its 1 MiB of the guest's memory: so be it");
	assert_err(vp_budget_check(), OT_ERR_LIMIT, "1 MiB of the guest's memory");
	vp_budget_part(&types);
	assert_ok(vp_budget_check());
	assert_ok(vp_budget_read(MIB));
	vp_budget_end(&budget);
}

/* What is read piece by piece has one budget for all pieces. */
static void a_paused_budget_keeps_what_is_left(void **state)
{
	const struct vp_reading types = reading("the types", 2, 20);
	struct vp_budget budget;
	struct ot_err *err = NULL;

	(void)state;
	vp_budget_begin(&budget, &types, false);
	assert_ok(vp_budget_take(MIB));
	while (!err)
		err = vp_budget_check();
	ot_err_destroy(err);
	vp_budget_pause(&budget);
	assert_ok(vp_budget_take(1ull << 40));
	assert_ok(vp_budget_check());
	vp_budget_resume(&budget);
	assert_ok(vp_budget_take(MIB));
	assert_err(vp_budget_take(1), OT_ERR_LIMIT, "the types");
	assert_err(vp_budget_check(), OT_ERR_LIMIT, "its 20 ms of CPU time");
	vp_budget_pause(&budget);
}

/* One of many has a share: it can't use up the whole, and what it has used the whole has not any more. */
static void a_share_ends_before_the_whole(void **state)
{
	const struct vp_reading all = { "all of them", 8, 3, 100000, 0, "so be it" };
	const struct vp_reading one = { "one of them", 2, 2, 20, 0, "it is left out" };
	struct vp_budget budget, share;

	(void)state;
	vp_budget_begin(&budget, &all, false);
	vp_budget_share(&share, &one);
	assert_ok(vp_budget_take(2 * MIB));
	assert_false(vp_budget_take_or_end(1));
	assert_err(vp_budget_check(), OT_ERR_LIMIT,
		   "reading one of them takes more than its 2 MiB of memory: it is left out");
	vp_budget_give(MIB);
	assert_true(vp_budget_share_end(&share));
	assert_ok(vp_budget_check());

	vp_budget_share(&share, &one);
	assert_ok(vp_budget_read(2 * MIB));
	assert_err(vp_budget_read(1), OT_ERR_LIMIT, "one of them");
	assert_true(vp_budget_share_end(&share));
	vp_budget_share(&share, &one);
	while (!vp_budget_is_over())
		;
	assert_true(vp_budget_share_end(&share));
	assert_ok(vp_budget_check());

	/* what is left of the whole is less than a share */
	vp_budget_share(&share, &one);
	assert_ok(vp_budget_take(MIB));
	assert_ok(vp_budget_take(MIB));
	assert_false(vp_budget_share_end(&share));
	vp_budget_share(&share, &one);
	assert_false(vp_budget_take_or_end(1));
	assert_false(vp_budget_share_end(&share));
	assert_err(vp_budget_check(), OT_ERR_LIMIT,
		   "reading all of them takes more than its 3 MiB of memory: so be it");
	vp_budget_end(&budget);
}

/* Guest memory is charged where it is read. */
static void reading_memory_is_charged(void **state)
{
	const struct vp_reading symbols = reading("the symbols", 1, 1000);
	struct guest_fixture g;
	struct vp_budget budget;
	uint8_t page[4096];
	struct ot_err *err = NULL;
	unsigned pages = 0;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	vp_budget_begin(&budget, &symbols, false);
	for (; !err; pages++)
		err = vp_phys_read(g.phys, vp_gpa(0), page, sizeof(page));
	assert_err(err, OT_ERR_LIMIT, "its 1 MiB of the guest's memory");
	assert_int_equal(pages, 257);
	vp_budget_end(&budget);
	guest_fixture_deinit(&g);
}

/* No record without limits and words: a reading could be without end, or its message cut off. */
static void every_reading_has_limits(void **state)
{
	(void)state;
	for (unsigned i = 0; i < VP_READINGS_N; i++) {
		const struct vp_reading *r = &vp_readings[i];

		assert_true(r->what && *r->what && r->without && *r->without);
		assert_true(r->cpu_ms > 0);
		assert_true(r->guest_mib > 0 || i == VP_READ_COPIES); /* which reads a file */
	}
}

/* --- page tables ---------------------------------------------------------------------------------------- */

struct counted {
	struct guest_fixture *g;
	unsigned roots; /* reads of what CR3 may name */
};

#define ROOTS_GPA 0x800000u /* the fixture has modules there, and no page table */

static struct ot_err *read_counted(void *arg, uint64_t gpa, void *dst, size_t len)
{
	struct counted *c = arg;

	if (gpa >= ROOTS_GPA && gpa < ROOTS_GPA + 256 * 4096 && len == 4096)
		c->roots++;
	memset(dst, 0, len);
	return NULL;
}

static unsigned tables_looked_at(bool equal)
{
	struct counted c = { 0 };
	struct vp_regs regs[256] = { 0 };
	struct vp_kernel kernel;
	struct vp_image image = { 0 };
	struct vp_phys *phys;

	assert_ok(vp_phys_create(&phys));
	assert_ok(vp_phys_add_reader(phys, vp_gpa(0), GUEST_RAM, read_counted, &c));
	for (unsigned i = 0; i < 256; i++) {
		regs[i].valid = VP_REG_BIT(VP_CR3) | VP_REG_BIT(VP_CR4);
		regs[i].v[VP_CR3] = ROOTS_GPA + (equal ? 0 : 2 * 4096ull * (i % 128));
	}
	assert_err(vp_kernel_find(&vp_arch_x86, phys, regs, 256, &kernel, &image), OT_ERR_NOT_FOUND,
		   "no Linux kernel");
	vp_phys_destroy(phys);
	return c.roots;
}

static void page_tables_are_searched_once_and_eight_of_them(void **state)
{
	(void)state;
	assert_int_equal(tables_looked_at(true), 1);
	assert_int_equal(tables_looked_at(false), 8);
}

/* All of the kernel's address range mapped, a gigabyte, by a few tables and the same 2 MiB again and again.
 */
static void an_image_without_end_is_refused_by_name(void **state)
{
	struct guest_fixture g;
	struct vp_regs regs;
	struct vp_guest *guest;
	struct vp_guest_opts opts = { .regs = &regs, .nregs = 1 };
	uint64_t next = GUEST_VMCOREINFO + 0x10000;

	(void)state;
	guest_fixture_init(&g, &layout, 4);
	for (uint64_t gva = VP_KERNEL_MAP_START; gva < VP_KERNEL_MAP_END; gva += 2 * MIB)
		map_page(g.ram, GUEST_CR3, 4, gva, GUEST_IMAGE_GPA, 2 * MIB, &next);
	regs = guest_regs(&g, GUEST_CR3);
	opts.phys = g.phys;
	assert_err(vp_guest_open(&opts, &guest), OT_ERR_LIMIT,
		   "reading the kernel's image takes more than its 160 MiB");
	guest_fixture_deinit(&g);
}

/* --- names ---------------------------------------------------------------------------------------------- */

static void symbols_end_with_their_share(void **state)
{
	const struct vp_reading symbols = reading("the symbols", 8, 100000);
	struct vp_symtab *symtab;
	struct vp_budget budget;
	struct ot_err *err = NULL;
	char name[VP_SYM_NAME_MAX];
	unsigned n = 0;

	(void)state;
	memset(name, 'n', sizeof(name));
	vp_budget_begin(&budget, &symbols, false);
	assert_ok(vp_symtab_create(&symtab));
	for (; !err && n < 8 * MIB / 256; n++)
		err = vp_symtab_add(symtab, VP_KERNEL_MAP_START + n, 't', VP_SYMTAB_VMLINUX, 0, name,
				    sizeof(name) - 1);
	assert_err(err, OT_ERR_LIMIT, "reading the symbols takes more than its 8 MiB");
	assert_true(n > 1000); /* not before a good part of it is used */
	vp_symtab_destroy(symtab);
	vp_budget_end(&budget);
}

#define LONG     2000u
#define BOMBS    4000u
#define PER_BOMB 250u

/* A million enumerators, each of them named by another place in one long string. */
static struct vp_btf *enumerator_bomb(void)
{
	struct btf_builder b;
	struct ot_buf blob;
	struct vp_btf *btf;
	char name[LONG + 1];

	memset(name, 'x', LONG);
	name[LONG] = '\0';
	btf_builder_init(&b, NULL);
	btf_add_int(&b, "int", 4, BTF_INT_SIGNED);
	uint32_t at = btf_add_string(&b, name);
	for (unsigned i = 0; i < BOMBS; i++) {
		btf_add(&b, "", BTF_KIND_ENUM, PER_BOMB, 0, 4);
		for (unsigned k = 0; k < PER_BOMB; k++)
			btf_add_words(&b, 2, at + (i * PER_BOMB + k) % LONG, k);
	}
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	assert_ok(vp_btf_create(blob.data, blob.len, NULL, &btf));
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
	return btf;
}

static void enumerators_cost_no_copies_of_names(void **state)
{
	struct vp_btf *btf = enumerator_bomb();
	size_t before = mallinfo2().uordblks + mallinfo2().hblkhd, grown;
	char longest[512];
	uint32_t type;
	int64_t value;

	(void)state;
	assert_true(vp_btf_enumerator(btf, "xxx", &type, &value));
	grown = mallinfo2().uordblks + mallinfo2().hblkhd - before;
	assert_true(grown <= 17 * MIB); /* two slots for each of a million; the names were 250 MB */
	memset(longest, 'x', sizeof(longest));
	longest[511] = '\0';
	assert_true(vp_btf_enumerator(btf, longest, &type, &value));
	vp_btf_destroy(btf);
}

static void names_end_within_512_bytes(void **state)
{
	struct btf_builder b;
	struct ot_buf blob;
	struct vp_btf *btf;
	char name[600];

	(void)state;
	memset(name, 'y', sizeof(name));
	name[599] = '\0';
	btf_builder_init(&b, NULL);
	btf_add_int(&b, "int", 4, BTF_INT_SIGNED);
	uint32_t at = btf_add_string(&b, name);
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	assert_ok(vp_btf_create(blob.data, blob.len, NULL, &btf));
	assert_string_equal(vp_btf_str(btf, at), "");
	assert_int_equal(strlen(vp_btf_str(btf, at + 88)), 511);
	assert_string_equal(vp_btf_str(btf, at + 87), "");
	vp_btf_destroy(btf);
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_part_has_its_memory),
		cmocka_unit_test(each_part_has_its_time),
		cmocka_unit_test(waiting_for_a_cpu_does_not_count),
		cmocka_unit_test(each_part_has_its_bytes),
		cmocka_unit_test(a_paused_budget_keeps_what_is_left),
		cmocka_unit_test(a_share_ends_before_the_whole),
		cmocka_unit_test(reading_memory_is_charged),
		cmocka_unit_test(every_reading_has_limits),
		cmocka_unit_test(page_tables_are_searched_once_and_eight_of_them),
		cmocka_unit_test(an_image_without_end_is_refused_by_name),
		cmocka_unit_test(symbols_end_with_their_share),
		cmocka_unit_test(enumerators_cost_no_copies_of_names),
		cmocka_unit_test(names_end_within_512_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
