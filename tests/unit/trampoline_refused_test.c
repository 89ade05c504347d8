/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What trampolines can't do is refused by name, and what is too long or too far away too. */
#include "tests/unit/trampoline_cases.h"

/* --- what is refused ------------------------------------------------------------------------- */

static const struct {
	const char *predicate, *reason;
} refused[] = {
	{ "ldgs 0x11d 1; ret 1", "clause 1: its predicate: ppid, which is behind a pointer" },
	{ "ldgs 0x11e 1; ret 1", "uid, which is behind a pointer" },
	{ "ldgs 0x101 1; ret 1", "timestamp, which only the VMM knows" },
	{ "ldgs 0x111 1; ret 1", "caller, which only the VMM knows" },
	{ "ldgs 0x10c 1; ret 1", "arg6, which is on the stack" },
	{ "setx 7 1; ldga 0 1 1; ret 1", "arg7, which is on the stack" },
	{ "ldgs " ARG0 " 1; ldga 0 1 1; ret 1", "args[] by an index that is not constant" },
	{ "ldga 1 0 1; ret 1", "regs[]" },
	{ "ldgs 0x500 1; ret 1", "the variable gs" },
	{ "ldts 0x500 1; ret 1", "the variable ts" },
	{ "call strlen 1; ret 1", "strlen()" },
	{ "ldgs " ARG0 " 1; ldx 1 1; ret 1", "neither in the running task nor in the per-CPU area" },
	{ "setx 8 1; ldx 1 1; ret 1", "neither in the running task" },
	{ "ldgs " EXECNAME " 1; ldub 1 1; ret 1", "neither in the running task" },
	{ "ldgs curthread 1; uldx 1 1; ret 1", "memory of a process" },
	{ "ldgs curthread 1; ldx 1 1; ldx 1 1; ret 1", "neither in the running task" },
	{ "ldgs curthread 1; setx 505 2; add 1 2 1; ldx 1 1; ret 1", "beyond the end of the running task" },
	{ "ldgs curthread 1; setx 1 2; sub 1 2 1; ldub 1 1; ret 1", "beyond the end of the running task" },
	{ "ldgs curthread 1; ldgs " ARG0 " 2; add 1 2 1; ldub 1 1; ret 1", "neither in the running task" },
	{ "ldgs " ARG0 " 1; ldgs curthread 2; setx 8 3; tst 1; be 6; add 2 3 2; ldx 2 2; ret 2",
	  "neither in the running task" },
	{ "ldgs " PERCPU " 1; setx 249 2; add 1 2 1; ldx 1 1; ret 1", "beyond the end of the per-CPU area" },
	{ "ldgs " PERCPU " 1; ret 1", "percpubase as a number" },
	{ "ldgs " ARG0 " 1; setx 3 2; udiv 1 2 1; ret 1", "a division" },
	{ "ldgs " ARG0 " 1; setx 2 2; sdiv 1 2 1; ret 1", "a division" },
	{ "ldgs " ARG0 " 1; urem 1 0 1; ret 1", "a division" },
	{ "ldgs " ARG0 " 1; udiv 1 1 1; ret 1", "a division" },
	{ "ldgs " ARG0 " 1; sll 1 1 1; ret 1", "a shift by a number that is not constant" },
	{ "ldgs " EXECNAME " 1; ret 1", "execname, but to compare it" },
	{ "ldgs " EXECNAME " 1; scmp 1 1; be 3; ret 1", "a comparison of strings" },
	{ "ldgs " EXECNAME " 1; sets a 2; scmp 1 2; bl 5; ret 0; ret 0", "the order of strings" },
	{ "ldgs " EXECNAME " 1; sets seventeen_letters 2; scmp 1 2; be 5; ret 0; ret 0",
	  "longer than a task's" },
	{ "ldgs " ARG0 " 1; tst 1; add 1 1 2; be 5; ret 0; ret 1",
	  "a branch whose comparison other instructions" },
	{ "ldgs " ARG0 " 1; tst 1; be 4; cmp 1 0; bl 6; ret 0; ret 1", "or differs by the way" },
	{ "ldgs " ARG0 " 1; setx 0 2; tst 1; be 5; tst 2; be 7; ret 0; ret 1", "or differs by the way" },
	{ "ldgs " ARG0 " 1; tst 1; be 4; ldgs " PERCPU " 2; ret 2", "holds no value" },
	{ "ret 5", "holds no value" },
	{ "sets a 1; ret 1", "a string as a value" },
	{ "setx 8 1; allocs 1 2; ret 2", "the instruction allocs" },
};

static void test_refused(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(refused); i++) {
		tf_case_make(c, refused[i].predicate, DIF_AGG_count, NULL);
		fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY), OT_ERR_UNSUPPORTED,
			 refused[i].reason);
	}
	tf_case_make(c, "ldgs " ARG0 " 1; ret 1", DIF_AGG_count, NULL);
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_SYSCALL_ENTRY), OT_ERR_UNSUPPORTED,
		 "arg0, which is no register here");
	/* Without a predicate there is nothing to filter by, and the reason is the actions'. */
	tf_case_make(c, NULL, DIF_AGG_sum, "ldgs " ARG0 " 1; ldx 1 1; ret 1");
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY), OT_ERR_UNSUPPORTED,
		 "clause 1: sum(): memory");
	free(c);
	tf_destroy(m);
}

/* Actions that a record can't carry. */
static const struct {
	const char *value, *reason;
} unrecorded[] = {
	{ "ldgs 0x11e 1; ret 1", "uid, which no record has" },
	{ "ldgs 0x10c 1; ret 1", "arg6, which is on the stack" },
	{ "ldgs " ARG0 " 1; ldx 1 1; ret 1", "memory" },
	{ "ldgs 0x500 1; ret 1", "a variable" },
	{ "ldgs " ARG0 " 1; stgs 0x500 1; ret 1", "a variable" },
	{ "call strlen 1; ret 1", "strlen()" },
	{ "ldgs " ARG0 " 1; ldga 0 1 2; ret 2", "an array, but for args[]" },
	{ "ldgs " ARG0 " 1; sets a 2; scmp 1 2; be 5; ret 0; ret 0", "a string that may be in memory" },
};

static void test_unrecorded(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(unrecorded); i++) {
		tf_case_traced(c, NULL, unrecorded[i].value);
		fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY), OT_ERR_UNSUPPORTED,
			 unrecorded[i].reason);
		/* With a predicate, that is in front of the exit. */
		tf_case_traced(c, "ldgs pid 1; ret 1", unrecorded[i].value);
		fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
		assert_true(m->t.exits && strstr(m->t.why, unrecorded[i].reason));
	}
	tf_case_traced(c, NULL, "ldgs " ARG0 " 1; ret 1");
	m->guest.world.ring.count = 0;
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY), OT_ERR_UNSUPPORTED, "a record");
	free(c);
	tf_destroy(m);
}

/* --- bounds ---------------------------------------------------------------------------------- */

/* @n additions of an argument. */
static void make_long(struct tf_case *c, unsigned n, unsigned clauses)
{
	fx_object_init(&c->predicate);
	fx_op(&c->predicate, dif_insn_index(DIF_OP_ldgs, DIF_VAR_arg0, 1));
	for (unsigned i = 0; i < n; i++)
		fx_op3(&c->predicate, DIF_OP_add, 1, 1, 1);
	fx_ret(&c->predicate, 1);
	for (unsigned i = 0; i < clauses; i++)
		c[i].clause = (struct dif_clause){ .predicate = &c->predicate.obj,
						   .actions = &c->action,
						   .nactions = 1 };
	c->action = (struct dif_action){ .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 1 };
}

static void test_bounds(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	struct dif_clause clauses[8];
	uint8_t bytes[VP_TRAMP_BYTES_MAX], jump[VP_TRAMP_SITE];
	(void)state;

	make_long(c, VP_TRAMP_OBJECT_MAX - 2, 1);
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));
	make_long(c, VP_TRAMP_OBJECT_MAX - 1, 1);
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY), OT_ERR_LIMIT, "more than 64 instructions");
	make_long(c, VP_TRAMP_OBJECT_MAX - 2, 1);
	for (unsigned i = 0; i < 8; i++)
		clauses[i] = c->clause;
	fx_error(tf_compile(m, clauses, 8, VP_ARGS_FBT_ENTRY), OT_ERR_LIMIT, "more than 512 operations");
	tf_case_make(c, NULL, DIF_AGG_quantize, "ldgs " ARG0 " 1; ret 1");
	m->guest.world.ring.at = TF_WORDS + 126 * 8;
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_SYSCALL_ENTRY), OT_ERR_UNSUPPORTED, "arg0");
	m->guest.world.ring.count = 0;
	m->guest.data_size = TF_WORDS + 127 * 8;
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_ENTRY));

	/* too few bytes, and too far away */
	const struct vp_tramp_end near = { VP_TRAMP_AT_ENTRY, 1 }, far = { VP_TRAMP_AT_ENTRY, 3ull << 30 };
	struct vp_tramp_code code = { .bytes = bytes, .size = m->len - 1 };
	fx_error(vp_trampoline_emit(m->t.ops, m->t.nops, &m->guest.world, 0, &near, &code), OT_ERR_LIMIT,
		 "more than");
	code.size = sizeof(bytes);
	fx_error(vp_trampoline_emit(m->t.ops, m->t.nops, &m->guest.world, 0, &far, &code), OT_ERR_LIMIT,
		 "does not reach");
	assert_true(vp_trampoline_jump(0x1000, 0x80000000u, jump));
	assert_false(vp_trampoline_jump(0x1000, 0x80001005u, jump));
	assert_true(vp_trampoline_jump(0x80001000u, 0x1005u, jump));
	assert_true(vp_trampoline_fits((const uint8_t[]){ 0x0f, 0x1f, 0x44, 0x00, 0x00 }));
	assert_false(vp_trampoline_fits((const uint8_t[]){ 0xe8, 0x00, 0x00, 0x00, 0x00 }));
	free(c);
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unrecorded),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
