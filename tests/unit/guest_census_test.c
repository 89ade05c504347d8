/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/census*.c: what was unlinked somewhere is found elsewhere; memory that lies has an end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "census_fixture.h"
#include "vmm-probe/guest/census_internal.h"
#include "vmm-probe/guest/guest_internal.h"

#define TASKS   (VP_TASK_LIST | VP_TASK_PIDS | VP_TASK_TREE)
#define MODULES (VP_MODULE_LIST | VP_MODULE_SYSFS | VP_MODULE_ADDRESSES)

static int setup(void **state)
{
	*state = census_guest_create();
	return 0;
}

static int teardown(void **state)
{
	census_guest_destroy(*state);
	return 0;
}

/* Every process is found by all ways but for @p pid, which is by @p ways. */
static void tasks_are(struct census_guest *cg, unsigned pid, uint32_t ways)
{
	static const unsigned pids[] = { 1, 2, 3, 4, 6 };
	struct vp_census c;

	assert_null(vp_census_tasks(census_guest(cg), &c));
	assert_int_equal(c.ways, TASKS);
	assert_int_equal(c.count, OT_ARRAY_SIZE(pids));
	for (size_t i = 0; i < c.count; i++) {
		const char name[] = { 't', 'a', 's', 'k', (char)('0' + pids[i]), 0 };

		assert_int_equal(c.items[i].id, pids[i]);
		assert_int_equal(c.items[i].since_ns, 1000 + pids[i]);
		assert_string_equal(c.items[i].name, name);
		assert_int_equal(c.items[i].ways, pids[i] == pid ? ways : TASKS);
	}
	vp_census_deinit(&c);
}

static void test_tasks(void **state)
{
	struct census_guest *cg = *state;

	tasks_are(cg, 0, 0);
	census_unlink(cg, CENSUS_TASK(4) + CENSUS_TASKS);
	tasks_are(cg, 4, VP_TASK_PIDS | VP_TASK_TREE);
	census_guest_reset(cg);
	*census_word(cg, CENSUS_NODE(2) + 16 + 8 * 2) = 0;
	tasks_are(cg, 6, VP_TASK_LIST | VP_TASK_TREE);
	census_guest_reset(cg);
	census_unlink(cg, CENSUS_TASK(6) + CENSUS_SIBLING); /* a thread's child */
	tasks_are(cg, 6, VP_TASK_LIST | VP_TASK_PIDS);
	census_guest_reset(cg);
	census_unlink(cg, CENSUS_TASK(1) + CENSUS_TASKS);
	*census_word(cg, CENSUS_NODE(1) + 16 + 8 * 1) = 0;
	tasks_are(cg, 1, VP_TASK_TREE);
}

static void modules_are(struct census_guest *cg, unsigned which, uint32_t ways)
{
	static const char *const names[] = { "bridge", "loop", "veth" };
	static const unsigned numbers[] = { 1, 0, 2 };
	struct vp_census c;

	assert_null(vp_census_modules(census_guest(cg), &c));
	assert_int_equal(c.ways, MODULES);
	assert_int_equal(c.count, 3);
	for (size_t i = 0; i < c.count; i++) {
		assert_string_equal(c.items[i].name, names[i]);
		assert_int_equal(c.items[i].ways, numbers[i] == which ? ways : MODULES);
	}
	vp_census_deinit(&c);
}

static void test_modules(void **state)
{
	struct census_guest *cg = *state;

	modules_are(cg, 9, 0);
	census_unlink(cg, CENSUS_MODULE(0) + CENSUS_MODULE_LIST);
	modules_are(cg, 0, VP_MODULE_SYSFS | VP_MODULE_ADDRESSES);
	census_guest_reset(cg);
	census_unlink(cg, CENSUS_KOBJ(2) + CENSUS_KOBJ_ENTRY);
	modules_are(cg, 2, VP_MODULE_LIST | VP_MODULE_ADDRESSES);
	census_guest_reset(cg);
	/* the copy that the sequence points to is the one that counts */
	*census_word(cg, CENSUS_MODULE(1) + 0x100 + 8 + 24 + 8) = 0;
	modules_are(cg, 9, 0);
	*census_word(cg, CENSUS_MOD_TREE) = 1;
	modules_are(cg, 2, VP_MODULE_LIST | VP_MODULE_SYSFS);
}

/* A module that is only being made is not there yet. */
static void test_unformed(void **state)
{
	struct census_guest *cg = *state;
	struct vp_census c;

	*census_word(cg, CENSUS_MODULE(1)) = 3;
	assert_null(vp_census_modules(census_guest(cg), &c));
	assert_int_equal(c.count, 2);
	vp_census_deinit(&c);
}

static void refuses(struct census_guest *cg,
		    struct ot_err *(*take)(struct vp_guest *guest, struct vp_census *ret),
		    enum ot_err_code code, const char *part)
{
	struct vp_census c;
	struct ot_err *err = take(census_guest(cg), &c);

	assert_non_null(err);
	if (!strstr(ot_err_message(err), part))
		fail_msg("\"%s\" is not in \"%s\"", part, ot_err_message(err));
	assert_int_equal(ot_err_code(err), code);
	ot_err_destroy(err);
	vp_census_deinit(&c);
	census_guest_reset(cg);
}

/* Links that do not fit, and memory that is none: as of a list that changes, without end. */
static void test_torn(void **state)
{
	struct census_guest *cg = *state;

	census_word(cg, CENSUS_TASK(3))[1] = CENSUS_TASK(6);
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "list of tasks");
	census_word(cg, CENSUS_TASK(3))[0] = 0x1234;
	refuses(cg, vp_census_tasks, OT_ERR_FAULT, "list of tasks");
	*census_word(cg, CENSUS_TASK(3) + CENSUS_PID_OF) = 0;
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "list of tasks");
	*census_word(cg, CENSUS_NODE(1) + 16 + 8) = CENSUS_PID(2); /* 2 under the number 1 */
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "process numbers");
	*census_word(cg, CENSUS_NODE(1) + 16) = CENSUS_NODE(0) + 2; /* it is its own child */
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "process numbers");
	*census_word(cg, CENSUS_MODULE(1) + CENSUS_MODULE_NAME) = 0;
	refuses(cg, vp_census_modules, OT_ERR_BUSY, "list of modules");
}

/* Loops whose links fit. */
static void test_endless(void **state)
{
	struct census_guest *cg = *state;
	uint64_t a = CENSUS_TASK(1) + CENSUS_TASKS, b = CENSUS_TASK(2) + CENSUS_TASKS;

	/* the head leads in, and nothing leads out */
	census_word(cg, a)[1] = CENSUS_TASK(0);
	census_word(cg, a)[0] = b;
	census_word(cg, b)[0] = b;
	census_word(cg, b)[1] = b;
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "list of tasks");
	/* the tree of addresses, round and round */
	*census_word(cg, CENSUS_MODULE(0) + 0x100 + 8 + 16) = CENSUS_MODULE(1) + 0x100 + 8;
	refuses(cg, vp_census_modules, OT_ERR_BUSY, "tree of modules' addresses");
	/* one subtree on both sides: all of them together have no end */
	*census_word(cg, CENSUS_MODULE(1) + 0x100 + 8 + 16) = CENSUS_MODULE(2) + 0x100 + 8;
	refuses(cg, vp_census_modules, OT_ERR_BUSY, "tree of modules' addresses");
	/* a process whose threads are its parent's: its parent's children are its own */
	*census_word(cg, CENSUS_TASK(3) + CENSUS_SIGNAL_OF) = CENSUS_SIGNAL(1);
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "tree of processes");
	/* a process that is its own child */
	uint64_t children = CENSUS_TASK(4) + CENSUS_CHILDREN, sibling = CENSUS_TASK(4) + CENSUS_SIBLING;

	census_unlink(cg, sibling);
	census_word(cg, children)[0] = census_word(cg, children)[1] = sibling;
	census_word(cg, sibling)[0] = census_word(cg, sibling)[1] = children;
	/* no other task lists it: it is unreachable in the tree */
	tasks_are(cg, 4, VP_TASK_LIST | VP_TASK_PIDS);
	census_guest_reset(cg);
}

/* Nodes whose shifts decrease by one where their slots need two: there are as many leaves as ways to write a
 * number as a sum, and no leaf names a process. */
static void test_forged_numbers(void **state)
{
	struct census_guest *cg = *state;

	for (unsigned level = 0; level < 16; level++) {
		uint64_t node = CENSUS_NODE(level);
		memset(census_word(cg, node), 0, 48);
		*(uint8_t *)census_word(cg, node) = (uint8_t)(20 - level);
		for (unsigned i = 0; i < 4; i++)
			*census_word(cg, node + 16 + 8 * i) = level < 15 ? CENSUS_NODE(level + 1) + 2 : 0;
	}
	refuses(cg, vp_census_tasks, OT_ERR_BUSY, "table of process numbers");
	census_guest_reset(cg);
}

/* Without the symbol that the table of numbers hangs on, the other ways remain. */
static void test_no_numbers(void **state)
{
	struct census_guest *cg = *state;
	struct vp_guest *guest = census_guest(cg);
	struct vp_symtab *tab;
	struct vp_census c;

	assert_null(vp_symtab_create(&tab));
	assert_null(vp_symtab_add_range(tab, VP_SYMTAB_VMLINUX, CENSUS_BASE, CENSUS_BASE + (2u << 20)));
	assert_null(vp_symtab_add(tab, CENSUS_TASK(0), 'D', VP_SYMTAB_VMLINUX, 0, "init_task", 9));
	assert_null(vp_symtab_finish(tab));
	vp_symtab_destroy(guest->symtab);
	guest->symtab = tab;
	assert_null(vp_census_tasks(guest, &c));
	assert_int_equal(c.ways, VP_TASK_LIST | VP_TASK_TREE);
	assert_int_equal(c.count, 5);
	vp_census_deinit(&c);
}

/* What the budget in force says. */
static struct ot_err *look_at_budget(void *ctx, struct vp_census *census)
{
	struct vp_budget inner;

	(void)census;
	vp_budget_begin(&inner, &vp_readings[VP_READ_LISTS], false);
	*(struct vp_budget *)ctx = *inner.outer;
	vp_budget_end(&inner);
	return NULL;
}

/* A dump or a gdb stub may take its time. */
static void test_patience(void **state)
{
	static const struct vp_way way = { 1, "nothing", look_at_budget };
	struct vp_guest *guest = census_guest(*state);
	struct vp_budget budget;
	struct vp_census c = { 0 };

	assert_null(vp_census_walk(guest, &vp_readings[VP_READ_CENSUS], &way, 1, 1, &budget, &c));
	assert_false(budget.patient);
	assert_true(budget.wall_end_ns);
	guest->patient = true;
	assert_null(vp_census_walk(guest, &vp_readings[VP_READ_CENSUS], &way, 1, 1, &budget, &c));
	assert_true(budget.patient);
	assert_false(budget.wall_end_ns);
	vp_census_deinit(&c);
}

static struct ot_err *never_settles(void *ctx, struct vp_census *census)
{
	(void)census;
	++*(unsigned *)ctx;
	return vp_census_torn();
}

static void refused(struct ot_err *err)
{
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BUSY);
	ot_err_destroy(err);
}

/* What changes in a guest that runs is read again, for some time; a dump is what it is. */
static void test_tries(void **state)
{
	static const struct vp_way way = { 1, "nothing", never_settles };
	struct vp_guest *guest = census_guest(*state);
	struct vp_census c = { 0 };
	unsigned tries = 0;

	refused(vp_census_walk(guest, &vp_readings[VP_READ_CENSUS], &way, 1, 1, &tries, &c));
	assert_true(tries > 1);
	tries = 0;
	guest->is_still = true;
	refused(vp_census_walk(guest, &vp_readings[VP_READ_CENSUS], &way, 1, 1, &tries, &c));
	assert_int_equal(tries, 1);
	vp_census_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_tasks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_modules, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unformed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_torn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_endless, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forged_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_patience, setup, teardown),
		cmocka_unit_test_setup_teardown(test_tries, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
