/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Trampolines of returns, by a thunk and by a `ret` of their own: the function's result is counted as the
 * interpreter says and reaches the caller unchanged, at exits too, whatever interrupts; what has no place at
 * a return is refused.
 */
#include "tests/unit/trampoline_keyed.h"

#define ROUNDS 100u

/* Each of a return's arguments, alone and together. */
static const char *const values[] = {
	"ldgs " ARG1 " 1; ret 1",
	"ldgs " ARG0 " 1; ret 1",
	"ldgs " ARG2 " 1; ret 1",
	"ldgs 0x10f 1; ret 1", /* arg9 */
	"setx 1 1; ldga 0 1 2; ret 2",
	"ldgs " ARG0 " 1; ldgs " ARG1 " 2; add 1 2 3; ret 3",
	"ldgs " ARG1 " 1; ldgs " TID " 2; sub 1 2 1; ldgs " ARG1 " 4; xor 1 4 1; ret 1",
	"ldgs " ARG1 " 1; tst 1; be 5; setx 7 2; ba 6; ldgs pid 2; add 2 1 2; ret 2",
	"ldgs " ARG1 " 1; ldgs pid 2; ldgs " TID " 3; add 1 2 4; sub 1 3 5; xor 4 5 6; mul 6 1 6; add 6 2 6; "
	"add 6 3 6; ret 6",
};

static const char *const predicates[] = {
	NULL,
	"ldgs " ARG1 " 1; setx 0 2; cmp 1 2; bl 6; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " ARG1 " 1; tst 1; bne 5; setx 0 3; ret 3; setx 1 3; ret 3",
	"ldgs " EXECNAME " 1; sets task0 2; scmp 1 2; be 6; setx 0 3; ret 3; setx 1 3; ret 3",
};

/* Hits with random registers; the words that the interpreter would have made. */
static void agree(struct tf_machine *m, struct tf_case *c, unsigned *seed)
{
	const struct dif_action *a = &c->action;
	enum dif_agg_kind kind = (enum dif_agg_kind)a->kind;
	uint32_t nwords = dif_agg_words(kind, a->arg);
	uint64_t expected[127];

	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_RETURN));
	assert_false(m->t.exits);
	dif_agg_init(kind, a->arg, expected);
	dif_agg_init(kind, a->arg, tf_word(m, m->cpu, m->t.cells[0].at));
	for (unsigned i = 0; i < ROUNDS; i++) {
		const struct tf_regs regs = tf_random_regs(seed);
		tf_hit_checked(m, &regs);
		if (!c->clause.predicate || tf_value(m, &regs, c->clause.predicate))
			dif_agg_update(kind, a->arg, expected, a->object ? tf_value(m, &regs, a->object) : 0,
				       1);
	}
	assert_memory_equal(tf_word(m, m->cpu, m->t.cells[0].at), expected, nwords * 8);
}

static void test_results(void **state)
{
	static const enum dif_agg_kind kinds[] = { DIF_AGG_count, DIF_AGG_sum, DIF_AGG_min,
						   DIF_AGG_max,   DIF_AGG_avg, DIF_AGG_quantize };
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	unsigned seed = 11;
	(void)state;

	for (unsigned way = 0; way < 2; way++)
		for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++)
			for (size_t k = 0; k < OT_ARRAY_SIZE(kinds); k++) {
				m->returns = way;
				m->cpu = k % TF_CPUS;
				tf_case_make(c, predicates[(i + k) % OT_ARRAY_SIZE(predicates)], kinds[k],
					     kinds[k] == DIF_AGG_count ? NULL : values[i]);
				agree(m, c, &seed);
			}
	tf_case_make(c, NULL, DIF_AGG_lquantize, values[0]);
	c->action.arg = 3ull << 48 | 7ull << 32 | (uint32_t)-4;
	agree(m, c, &seed);
	free(c);
	tf_destroy(m);
}

/* By the result: what the table has is counted, and another key exits with the registers of the return. */
static void test_keys(void **state)
{
	static const struct tk_text text = { .keys = { OTHER }, .aggs = { { DIF_AGG_min, NUMBER } } };
	struct tf_machine *m = tf_create();
	struct tk_clause *k = calloc(1, sizeof(*k));
	const uint64_t key[VP_TRAMP_KEY_WORDS] = { 42 };
	(void)state;

	for (unsigned way = 0; way < 2; way++) {
		m->returns = way;
		tk_make(k, &text);
		tf_give_keys(m);
		fx_no_error(tf_compile(m, &k->clause, 1, VP_ARGS_FBT_RETURN));
		assert_int_equal(m->t.table.nwords, 2);
		uint32_t entry = tk_add(m, key, 1);
		*tk_word(m, 0, 0, 0, entry) = INT64_MAX;
		struct tf_regs regs = { .r[VP_RAX] = 42, .r[VP_RDI] = 43, .r[VP_RSI] = 43 };
		tf_hit_checked(m, &regs);
		assert_int_equal(m->exits, 0);
		assert_int_equal(*tk_word(m, 0, 0, 0, entry), TF_OFFSET);
		regs.r[VP_RAX] = 43;
		tf_hit_checked(m, &regs);
		assert_int_equal(m->exits, 1);
		for (unsigned i = 0; i < 16; i++)
			if (i != VP_RDI && i != VP_R10 && i != VP_R11 && i != VP_RSP)
				assert_int_equal(m->at_exit.r[i], regs.r[i]);
		assert_int_equal(m->at_exit.r[VP_RSP], (uintptr_t)(m->stack + TF_STACK - 64));
	}
	free(k);
	tf_destroy(m);
}

/* Nothing is recorded at a return: a clause that needs it is done by the host, behind its predicate. */
static void test_records(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	struct tf_regs regs = { .r[VP_RAX] = 7, .r[VP_RDI] = 8 };
	(void)state;

	tf_case_traced(c, NULL, values[0]);
	fx_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_RETURN), OT_ERR_UNSUPPORTED, "clause 1: a record");
	tf_case_traced(c, "ldgs " ARG1 " 1; setx 7 2; xor 1 2 1; tst 1; be 7; ret 0; ret 0; setx 1 1; ret 1",
		       values[0]);
	m->returns = true;
	fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_RETURN));
	assert_true(m->t.exits);
	tf_hit_checked(m, &regs);
	assert_int_equal(m->exits, 1);
	assert_int_equal(m->at_exit.r[VP_RAX], 7);
	regs.r[VP_RAX] = 8;
	tf_hit_checked(m, &regs);
	assert_int_equal(m->exits, 0);
	free(c);
	tf_destroy(m);
}

/* Another return's hit on the same CPU before each instruction. */
static void interrupt(struct tf_machine *m, unsigned step, uint64_t rip)
{
	struct tf_regs regs = { .r[VP_RAX] = 1000 };
	void (*again)(struct tf_machine *, unsigned, uint64_t) = m->step;
	unsigned steps = m->steps, *when = m->arg;

	(void)rip;
	if (step != *when)
		return;
	m->step = NULL;
	tf_hit(m, &regs);
	if (regs.r[VP_RAX] != 1000)
		*when = ~0u;
	m->step = again;
	m->steps = steps;
}

static void test_interrupted(void **state)
{
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	unsigned when;
	(void)state;

	m->step = interrupt;
	m->arg = &when;
	for (unsigned way = 0; way < 2; way++) {
		m->returns = way;
		tf_case_make(c, predicates[2], DIF_AGG_max, values[0]);
		fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_RETURN));
		for (unsigned i = 0;; i++) {
			struct tf_regs before = { .r[VP_RAX] = 5, .r[VP_RBX] = 6 }, after = before;
			when = i;
			tf_reset(m);
			tf_fill_stack(m);
			tf_hit_stepped(m, &after);
			const char *wrong = tf_intact(m, &before, &after);
			if (wrong || when != i)
				fail_msg("instruction %u: %s", i, wrong ? wrong : "the interrupt's result");
			if (i >= m->steps)
				break;
			assert_int_equal(*tf_word(m, 0, m->t.cells[0].at), 1000);
			assert_int_equal(*tf_word(m, 0, m->t.cells[1].at), 2);
		}
		assert_true(m->steps > 10);
	}
	free(c);
	tf_destroy(m);
}

/* Instructions of a hit: as at an entry where the result is not asked for, else two more. */
static void test_instructions(void **state)
{
	static const struct {
		enum dif_agg_kind kind;
		const char *value;
		unsigned steps;
	} all[] = { { DIF_AGG_count, NULL, 3 }, { DIF_AGG_sum, "ldgs " ARG1 " 1; ret 1", 8 } };
	struct tf_machine *m = tf_create();
	struct tf_case *c = calloc(1, sizeof(*c));
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct tf_regs regs = { .r[VP_RAX] = 9 };
		tf_case_make(c, NULL, all[i].kind, all[i].value);
		fx_no_error(tf_compile(m, &c->clause, 1, VP_ARGS_FBT_RETURN));
		tf_hit_stepped(m, &regs);
		assert_int_equal(m->steps, all[i].steps);
		assert_int_equal(regs.r[VP_RAX], 9);
	}
	free(c);
	tf_destroy(m);
}

/* Wherever it is put, a `ret` is in the upper half of a cache line, and there is no other way out. */
static void test_halves(void **state)
{
	static const struct vp_tramp_op ops[] = {
		{ .kind = VP_TRAMP_RETURNED },
		{ .kind = VP_TRAMP_TEST },
		{ .kind = VP_TRAMP_JUMP, .cond = VP_TRAMP_EQUAL, .target = 5 },
		{ .kind = VP_TRAMP_SUM, .value = TF_WORDS },
		{ .kind = VP_TRAMP_JUMP, .target = 6 },
		{ .kind = VP_TRAMP_COUNT, .value = TF_WORDS },
	};
	const struct vp_tramp_end end = { .place = VP_TRAMP_AT_RETURN };
	struct tf_machine *m = tf_create();
	uint8_t bytes[VP_TRAMP_BYTES_MAX];
	(void)state;

	for (uint64_t at = 0x7000; at < 0x7000 + 64; at++) {
		struct vp_tramp_code code = { .bytes = bytes, .size = sizeof(bytes) };
		fx_no_error(vp_trampoline_emit(ops, OT_ARRAY_SIZE(ops), &m->guest.world, at, &end, &code));
		const char *wrong = tf_harmless(m, bytes, code.len, at, &end);
		if (wrong)
			fail_msg("at %#llx: %s", (unsigned long long)at, wrong);
		for (uint32_t size = 0; size < code.len; size++) {
			struct vp_tramp_code less = { .bytes = bytes, .size = size };
			fx_error(
			    vp_trampoline_emit(ops, OT_ARRAY_SIZE(ops), &m->guest.world, at, &end, &less),
			    OT_ERR_LIMIT, "more than");
		}
	}
	tf_destroy(m);
}

/* What a jump may replace. */
static void test_bytes(void **state)
{
	static const struct {
		uint8_t code[6], room;
		bool fits;
		uint64_t to;
	} all[] = {
		{ { 0xe9, 0xfb, 0x0f, 0x00, 0x00 }, 5, true, 0x401000 },
		{ { 0xe9, 0xfb, 0xef, 0xff, 0xff, 0xcc }, 6, true, 0x3ff000 },
		{ { 0xe9, 0xfb, 0xff, 0xbf, 0xff }, 5, false, 0 },
		{ { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc }, 5, true, 0 },
		{ { 0xc3, 0xcc, 0xcc, 0xcc, 0xcc }, 4, false, 0 },
		{ { 0xc3, 0xcc, 0xcc, 0xcc, 0x90 }, 5, false, 0 },
		{ { 0xe8, 0xfb, 0x0f, 0x00, 0x00 }, 5, false, 0 },
		{ { 0xeb, 0x10, 0xcc, 0xcc, 0xcc }, 5, false, 0 },
		{ { 0xf3, 0xc3, 0xcc, 0xcc, 0xcc }, 5, false, 0 },
	};
	uint64_t to;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		bool fits = vp_trampoline_returns(all[i].code, all[i].room, 0x400000, &to);
		assert_int_equal(fits, all[i].fits);
		assert_true(!fits || to == all[i].to);
	}
	assert_true(vp_trampoline_is_traced((const uint8_t *)"\x0f\x1f\x44\x00\x00", 5));
	assert_false(vp_trampoline_is_traced((const uint8_t *)"\x0f\x1f\x44\x00", 4));
	assert_true(vp_trampoline_is_traced((const uint8_t *)"\xf3\x0f\x1e\xfa\x0f\x1f\x44\x00\x00", 9));
	assert_true(vp_trampoline_is_traced((const uint8_t *)"\x66\x0f\x1f\x00\x66\x66\x66\x66\x90", 9));
	assert_false(vp_trampoline_is_traced((const uint8_t *)"\xf3\x0f\x1e\xfa\x0f\x1f\x44\x00", 8));
	assert_false(vp_trampoline_is_traced((const uint8_t *)"\x55\x0f\x1f\x44\x00\x00", 6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results),      cmocka_unit_test(test_keys),
		cmocka_unit_test(test_records),      cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_instructions), cmocka_unit_test(test_halves),
		cmocka_unit_test(test_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
