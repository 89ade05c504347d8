/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of trampolines hold the event; exits find the guest's registers as they were at the site. */
#include "tests/unit/trampoline_cases.h"

/* --- records --------------------------------------------------------------------------------- */

static uint64_t *head(struct tf_machine *m, unsigned cpu)
{
	return (uint64_t *)(void *)tf_ring(m, cpu)->reserved;
}

static void check_record(struct tf_machine *m, uint64_t n, const struct tf_regs *regs)
{
	static const uint8_t args[] = { VP_REGS_ARGS };
	const struct ga_record *r = &tf_ring(m, m->cpu)->records[n % TF_RECORDS];
	const uint64_t task = (uint64_t)(uintptr_t)tf_task(m, m->cpu);

	assert_int_equal(r->seq, n + 1);
	assert_true(r->tsc > 0);
	assert_int_equal(r->task, task);
	assert_int_equal(r->pid, 100 + m->cpu);
	assert_int_equal(r->tgid, 200 + m->cpu);
	assert_memory_equal(r->comm, tf_task(m, m->cpu) + TF_TASK_COMM, GA_COMM);
	assert_int_equal(r->slot, 1000);
	assert_int_equal(r->preempt, 0x10203);
	assert_int_equal(r->nargs, 3);
	assert_int_equal(r->flags, 0);
	for (unsigned i = 0; i < r->nargs; i++)
		assert_int_equal(r->args[i], regs->r[args[i]]);
}

static void test_records(void **state)
{
	const uint32_t preempt = 0x10203;
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	unsigned seed = 4;
	(void)state;

	tf_case_traced(c, "ldgs " ARG1 " 1; setx 1 2; and 1 2 1; ret 1", "ldgs 0x108 1; ret 1");
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	for (m->cpu = 0; m->cpu < TF_CPUS; m->cpu++) {
		memcpy(m->percpu + (size_t)m->cpu * TF_SPACING + TF_PREEMPT, &preempt, sizeof(preempt));
		for (uint64_t n = 0; n < 3 * TF_RECORDS;) {
			const struct tf_regs regs = tf_random_regs(&seed);
			tf_hit_checked(m, &regs);
			if (!(regs.r[VP_RSI] & 1))
				continue;
			check_record(m, n, &regs);
			tf_ring(m, m->cpu)->tail = ++n;
		}
		assert_int_equal(*head(m, m->cpu), 3 * TF_RECORDS);
		assert_int_equal(tf_ring(m, m->cpu)->lost, 0);
	}
	m->cpu = 0;
	free(c);
	tf_destroy(m);
}

/* Whatever the tail is, records stay in the ring, and those without room are counted. */
static void test_full_ring(void **state)
{
	static const uint64_t tails[] = { 0, 1, UINT64_MAX, 1ull << 63, 100, 85, 84 };
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	struct tf_regs regs = { .flags = 0 };
	(void)state;

	tf_case_traced(c, NULL, "ldgs " ARG0 " 1; ret 1");
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	for (unsigned i = 0; i < TF_RECORDS + 5; i++)
		tf_hit_checked(m, &regs);
	assert_int_equal(*head(m, 0), TF_RECORDS);
	assert_int_equal(tf_ring(m, 0)->lost, 5);
	for (size_t i = 0; i < OT_ARRAY_SIZE(tails); i++) {
		tf_reset(m);
		*head(m, 0) = 100;
		tf_ring(m, 0)->tail = tails[i];
		tf_hit_checked(m, &regs);
		bool fits = 100 - tails[i] < TF_RECORDS;
		assert_int_equal(*head(m, 0), fits ? 101 : 100);
		assert_int_equal(tf_ring(m, 0)->lost, !fits);
	}
	free(c);
	tf_destroy(m);
}

/* Where the task's name is unknown, what does not ask for it is recorded all the same. */
static void test_nameless(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	static const char none[GA_COMM];
	struct tf_regs regs = { .flags = 0 };
	(void)state;

	m->facts.task_comm = VP_NO_OFFSET;
	tf_case_traced(c, NULL, "ldgs " ARG0 " 1; ret 1");
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	assert_int_equal(m->t.nrecords, 1);
	memset(tf_ring(m, 0)->records[0].comm, 'x', GA_COMM);
	regs.r[VP_RDI] = 77;
	tf_hit_checked(m, &regs);
	assert_int_equal(tf_ring(m, 0)->records[0].seq, 1);
	assert_int_equal(tf_ring(m, 0)->records[0].args[0], 77);
	assert_memory_equal(tf_ring(m, 0)->records[0].comm, none, GA_COMM);
	tf_case_traced(c, NULL, "ldgs " EXECNAME " 1; ret 1");
	c->value.obj.ret = (struct dif_rtype){ .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF };
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY), OT_ERR_UNSUPPORTED, "execname");
	free(c);
	tf_destroy(m);
}

/* --- exits ----------------------------------------------------------------------------------- */

static void test_exits(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(2, sizeof(*c));
	struct dif_clause clauses[2];
	unsigned seed = 5, exits = 0;
	(void)state;

	/* stack() takes an exit, and so do the clauses beside it; predicates that need many registers come
	 * first */
	clauses[0] = *tf_case_make(
	    &c[0],
	    "ldgs 0x106 1; ldgs 0x107 2; ldgs 0x108 3; ldgs 0x109 4; ldgs 0x10a 5; ldgs 0x10b 6; add 1 2 1; "
	    "sub 1 3 1; xor 1 4 1; add 1 5 1; sub 6 1 6; setx 3 1; and 6 1 6; ret 6",
	    DIF_AGG_count, NULL);
	clauses[1] = *tf_case_make(&c[1], "ldgs " ARG1 " 1; setx 1 2; and 1 2 1; ret 1", DIF_AGG_count, NULL);
	c[0].action = (struct dif_action){ .kind = DIF_ACT_stack };
	clauses[0].actions = &c[0].action;
	fx_no_error(tf_compile(m, clauses, 2, VP_ARGS_FBT_ENTRY));
	assert_true(m->t.exits);
	assert_true(m->exit_at && m->exit_at < m->len);
	assert_string_equal(m->t.why, "clause 1: stack()");
	assert_int_equal(m->t.ncells, 0);
	for (unsigned i = 0; i < 200u; i++) {
		const struct tf_regs regs = tf_random_regs(&seed);
		bool expected =
		    tf_value(m, &regs, clauses[0].predicate) || tf_value(m, &regs, clauses[1].predicate);
		struct tf_regs after = tf_hit_checked(m, &regs);
		assert_int_equal(m->exits, expected);
		exits += expected;
		for (unsigned r = 0; expected && r < 16; r++)
			if (r != VP_RAX && r != VP_R10 && r != VP_R11)
				assert_int_equal(m->at_exit.r[r], after.r[r]);
	}
	assert_true(exits > 10 && exits < 200u);
	free(c);
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_full_ring),
		cmocka_unit_test(test_nameless),
		cmocka_unit_test(test_exits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
