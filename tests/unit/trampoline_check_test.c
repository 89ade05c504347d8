/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of operations that no compiler should make: each rule of check.c, broken in each of its ways. */
#include "tests/unit/trampoline_cases.h"

#define RECORD_FIRST 4u /* operation of the list below */

/* One of each kind that has rules: a value, words, a record. */
static const struct vp_tramp_op good[] = {
	{ .kind = VP_TRAMP_LOAD_TASK, .dst = 0, .disp = 0x20, .size = 4 },
	{ .kind = VP_TRAMP_ADD, .dst = 1, .a = 0, .b = VP_TRAMP_IMM, .value = 1 },
	{ .kind = VP_TRAMP_JUMP, .cond = VP_TRAMP_NOT_EQUAL, .target = 11 },
	{ .kind = VP_TRAMP_SUM, .a = 1, .value = TF_WORDS },
	{ .kind = VP_TRAMP_RESERVE, .target = 11 },
	{ .kind = VP_TRAMP_STORE_CONST, .disp = 40, .size = 4, .value = 9 },
	{ .kind = VP_TRAMP_STORE_ARG, .disp = 64, .a = 5 },
	{ .kind = VP_TRAMP_STORE_TASK, .disp = 24, .size = 4, .value = 0x24 },
	{ .kind = VP_TRAMP_STORE_PREEMPT, .disp = 124 },
	{ .kind = VP_TRAMP_PUBLISH, .disp = 0 },
	{ .kind = VP_TRAMP_JUMP, .target = 12 },
	{ .kind = VP_TRAMP_EXIT },
};

#define N OT_ARRAY_SIZE(good)

static void refused_at(struct tf_machine *m, enum vp_tramp_place place, const struct vp_tramp_op *ops,
		       uint32_t nops, unsigned rule, int line)
{
	char prefix[16];
	struct ot_err *err = vp_trampoline_check(&m->guest, place, ops, nops);

	snprintf(prefix, sizeof(prefix), "rule %u ", rule);
	if (!err || ot_err_code(err) != OT_ERR_BAD_DATA ||
	    strncmp(ot_err_message(err), prefix, strlen(prefix)))
		fail_msg("line %d: not refused by rule %u: %s", line, rule,
			 err ? ot_err_message(err) : "it passed");
	ot_err_destroy(err);
}

static void refused(struct tf_machine *m, const struct vp_tramp_op *ops, uint32_t nops, unsigned rule,
		    int line)
{
	refused_at(m, VP_TRAMP_AT_ENTRY, ops, nops, rule, line);
}

/* The good list with members of operation @at replaced by @change breaks @rule. */
#define BREAKS(rule, at, ...)                                 \
	do {                                                  \
		struct vp_tramp_op ops[N], *op = &ops[at];    \
		memcpy(ops, good, sizeof(ops));               \
		__VA_ARGS__;                                  \
		refused(m, ops, (uint32_t)N, rule, __LINE__); \
	} while (0)

static void test_good(void **state)
{
	struct tf_machine *m = tf_create();
	(void)state;

	fx_no_error(vp_trampoline_check(&m->guest, VP_TRAMP_AT_ENTRY, good, (uint32_t)N));
	fx_no_error(vp_trampoline_check(&m->guest, VP_TRAMP_AT_ENTRY, good, 0));
	tf_destroy(m);
}

static void test_values(void **state)
{
	struct tf_machine *m = tf_create();
	static struct vp_tramp_op many[VP_TRAMP_OPS_MAX + 1];
	(void)state;

	refused(m, many, VP_TRAMP_OPS_MAX + 1, 1, __LINE__);
	BREAKS(1, 0, op->kind = VP_TRAMP_EXIT + 1);
	BREAKS(2, 0, op->dst = VP_TRAMP_REGS);
	BREAKS(2, 1, op->a = VP_TRAMP_REGS);
	BREAKS(2, 1, op->b = VP_TRAMP_REGS);
	BREAKS(2, 6, op->a = 6);
	BREAKS(2, 0, op->size = 3);
	BREAKS(2, 0, op->size = 16);
	BREAKS(2, 5, op->size = 2);
	BREAKS(2, 7, op->size = 1);
	BREAKS(2, 0, op->kind = VP_TRAMP_NAMED; op->size = 0);
	BREAKS(2, 0, op->kind = VP_TRAMP_NAMED; op->size = VP_TRAMP_TEXT + 1);
	BREAKS(3, 1, op->value = 0x80000000u);
	BREAKS(3, 1, op->kind = VP_TRAMP_SAR; op->b = 0; op->value = 64);
	BREAKS(3, 5, op->value = 0x80000000u);
	BREAKS(4, 2, op->target = 2);
	BREAKS(4, 2, op->target = 0);
	BREAKS(4, 2, op->target = N + 1);
	BREAKS(4, 2, op->cond = VP_TRAMP_NOT_ABOVE + 1);
	BREAKS(4, RECORD_FIRST, op->target = RECORD_FIRST);
	tf_destroy(m);
}

static void test_memory(void **state)
{
	struct tf_machine *m = tf_create();
	const struct vp_tramp_ring ring = m->guest.world.ring;
	(void)state;

	BREAKS(5, 0, op->disp = TF_TASK_SIZE - 3);
	BREAKS(5, 0, op->disp = -1);
	BREAKS(5, 0, op->disp = INT32_MAX);
	BREAKS(5, 0, op->kind = VP_TRAMP_LOAD_PERCPU; op->disp = TF_PERCPU_SIZE - 3);
	BREAKS(5, 0, op->kind = VP_TRAMP_NAMED; op->size = 16; op->disp = TF_TASK_SIZE - 15);
	BREAKS(5, 7, op->value = TF_TASK_SIZE - 3);
	BREAKS(5, 7, op->value = 1ull << 32);
	BREAKS(6, 3, op->value = TF_WORDS + 4);
	BREAKS(6, 3, op->value = TF_SPACING);
	BREAKS(6, 3, op->value = UINT64_MAX - 7);
	BREAKS(6, 3, op->value = TF_RING);
	BREAKS(6, 3, op->kind = VP_TRAMP_QUANTIZE; op->value = TF_RING - 126 * 8);
	m->guest.world.current = TF_PERCPU_SIZE - 7;
	BREAKS(5, 0, (void)op);
	m->guest.world.current = -8;
	BREAKS(5, 0, (void)op);
	m->guest.world.current = TF_CURRENT;
	m->guest.world.preempt = TF_PERCPU_SIZE - 3;
	BREAKS(5, 0, (void)op);
	m->guest.world.preempt = TF_PREEMPT;
	m->guest.world.lost = TF_RING;
	BREAKS(6, 3, op->kind = VP_TRAMP_LEAST);
	m->guest.world.lost = TF_LOST;

	m->guest.world.ring.count = 24;
	BREAKS(7, 0, (void)op);
	m->guest.world.ring.count = 1u << 12;
	BREAKS(7, 0, (void)op);
	m->guest.world.ring = ring;
	m->guest.world.ring.at = TF_SPACING;
	BREAKS(7, 0, (void)op);
	m->guest.world.ring = ring;
	m->guest.world.ring.tail = ring.first;
	BREAKS(7, 0, (void)op);
	m->guest.world.ring = ring;
	m->guest.world.ring.shift = 13;
	BREAKS(7, 0, (void)op);
	tf_destroy(m);
}

static void test_records(void **state)
{
	struct tf_machine *m = tf_create();
	(void)state;

	BREAKS(8, RECORD_FIRST, op->kind = VP_TRAMP_NOP);
	BREAKS(8, 6, op->kind = VP_TRAMP_NOP; op->a = 0);
	BREAKS(8, 6, op->kind = VP_TRAMP_RESERVE; op->a = 0; op->target = 11);
	BREAKS(8, 9, op->kind = VP_TRAMP_STORE_TIME);
	BREAKS(8, 2, op->target = RECORD_FIRST + 1);
	BREAKS(8, 2, op->target = 9);
	BREAKS(8, 5, op->disp = 125);
	BREAKS(8, 6, op->disp = -8);
	BREAKS(8, 9, op->disp = 128);
	refused(m, good, 8, 4, __LINE__); /* cut off: its jumps go too far */
	struct vp_tramp_op cut[2] = { { .kind = VP_TRAMP_RESERVE, .target = 2 },
				      { .kind = VP_TRAMP_STORE_TIME } };
	refused(m, cut, 2, 8, __LINE__);
	m->guest.world.ring.count = 0;
	BREAKS(8, 0, (void)op);

	struct vp_tramp_op exits[2] = { { .kind = VP_TRAMP_EXIT }, { .kind = VP_TRAMP_NOP } };
	refused(m, exits, 2, 9, __LINE__);
	tf_destroy(m);
}

static const struct vp_tramp_op keyed[] = {
	{ .kind = VP_TRAMP_ARG, .dst = 0, .a = 1 },
	{ .kind = VP_TRAMP_KEYED, .dst = 2, .a = 0, .b = 1, .c = 0, .d = 3, .size = 4, .target = 9 },
	{ .kind = VP_TRAMP_SUM, .a = 0, .b = 2, .size = 4, .value = TF_WORDS, .keyed = true },
	{ .kind = VP_TRAMP_TEST, .a = 0 },
	{ .kind = VP_TRAMP_JUMP, .cond = VP_TRAMP_EQUAL, .target = 6 },
	{ .kind = VP_TRAMP_LEAST, .a = 0, .b = 2, .size = 4, .value = TF_WORDS, .keyed = true },
	{ .kind = VP_TRAMP_LQUANTIZE,
	  .b = 2,
	  .size = 4,
	  .value = TF_WORDS,
	  .keyed = true,
	  .step = 1,
	  .levels = 7 },
	{ .kind = VP_TRAMP_COUNT, .b = 2, .size = 4, .value = TF_WORDS, .keyed = true },
	{ .kind = VP_TRAMP_JUMP, .target = 10 },
	{ .kind = VP_TRAMP_EXIT },
};

#define ENTRIES 64 /* of a table of 2^4 sets */

/* The list, with its table at the end of the room for keys, changed. */
#define KEYS_BREAK(rule, ...)                                                    \
	do {                                                                     \
		struct vp_tramp_op ops[OT_ARRAY_SIZE(keyed)];                    \
		memcpy(ops, keyed, sizeof(ops));                                 \
		ops[1].value = m->guest.world.keys_end - ENTRIES * 32;           \
		__VA_ARGS__;                                                     \
		refused(m, ops, (uint32_t)OT_ARRAY_SIZE(keyed), rule, __LINE__); \
	} while (0)

static void test_keys(void **state)
{
	struct tf_machine *m = tf_create();
	struct vp_tramp_world *w = &m->guest.world;
	struct vp_tramp_op whole[OT_ARRAY_SIZE(keyed)];
	(void)state;

	KEYS_BREAK(10, (void)ops);
	tf_give_keys(m);
	memcpy(whole, keyed, sizeof(whole));
	whole[1].value = w->keys_end - ENTRIES * 32;
	fx_no_error(vp_trampoline_check(&m->guest, VP_TRAMP_AT_ENTRY, whole, (uint32_t)OT_ARRAY_SIZE(whole)));
	KEYS_BREAK(2, ops[1].b = VP_TRAMP_REGS);
	KEYS_BREAK(2, ops[1].b = VP_TRAMP_IMM);
	KEYS_BREAK(2, ops[1].c = VP_TRAMP_REGS);
	KEYS_BREAK(2, ops[1].d = VP_TRAMP_REGS);
	KEYS_BREAK(4, ops[1].target = 1);
	KEYS_BREAK(10, ops[1].size = 1);
	KEYS_BREAK(10, ops[1].size = VP_TRAMP_SETS_LOG + 1);
	KEYS_BREAK(10, ops[1].value += 8);
	KEYS_BREAK(10, ops[1].value += 32);
	KEYS_BREAK(10, ops[1].value = w->keys_from - 32);
	KEYS_BREAK(10, ops[3] = ops[1]; ops[3].size = 3);
	w->keys_end = w->keys_from + ENTRIES * 32 - 32;
	KEYS_BREAK(10, ops[1].value = w->keys_from);
	w->keys_from = 1ull << 31;
	w->keys_end = w->keys_from + ENTRIES * 32;
	KEYS_BREAK(10, (void)ops);
	w->keys_from = (1ull << 31) - ENTRIES * 16;
	w->keys_end = w->keys_from + ENTRIES * 32;
	KEYS_BREAK(10, (void)ops);
	w->keys_end = w->keys_from - 32;
	KEYS_BREAK(10, ops[1].value = w->keys_from);
	tf_destroy(m);
}

static void test_entries(void **state)
{
	struct tf_machine *m = tf_create();
	(void)state;

	tf_give_keys(m);
	m->guest.world.ring.count = 0;
	KEYS_BREAK(3, ops[6].step = 0);
	KEYS_BREAK(3, ops[6].levels = 0);
	KEYS_BREAK(3, ops[6].step = 0x8000; ops[6].levels = 0x4000);
	KEYS_BREAK(6, ops[2].value = TF_SPACING - ENTRIES * 8 + 8);
	KEYS_BREAK(6, ops[6].value = TF_SPACING - 10 * ENTRIES * 8 + 8);
	KEYS_BREAK(6, ops[6].keyed = false; ops[6].value = TF_SPACING - 9 * 8);
	KEYS_BREAK(6, ops[2].value = TF_WORDS + 4);
	KEYS_BREAK(11, ops[1].kind = VP_TRAMP_NOP);
	KEYS_BREAK(11, ops[2].b = 0);
	KEYS_BREAK(11, ops[2].size = 3);
	KEYS_BREAK(11, ops[2].kind = VP_TRAMP_ADD);
	KEYS_BREAK(11, ops[3].kind = VP_TRAMP_ADD; ops[3].dst = 2; ops[3].b = 0);
	KEYS_BREAK(11, ops[0].kind = VP_TRAMP_JUMP; ops[0].target = 2); /* around the lookup */
	KEYS_BREAK(11, ops[0].kind = VP_TRAMP_JUMP; ops[0].cond = VP_TRAMP_EQUAL; ops[0].target = 7);
	KEYS_BREAK(11, ops[1].target = 7);
	/* an extreme spends the lowest registers: it can't use one, nor what follows it */
	KEYS_BREAK(11, ops[1].dst = ops[2].b = ops[5].b = 1);
	KEYS_BREAK(11, ops[1].dst = ops[2].b = ops[6].b = ops[7].b = 1; ops[5].keyed = false);
	tf_destroy(m);
}

/* What is where a function begins is not where it ends. */
static void test_places(void **state)
{
	static const struct vp_tramp_op at_return[] = {
		{ .kind = VP_TRAMP_RETURNED, .dst = 0 },
		{ .kind = VP_TRAMP_SUM, .a = 0, .value = TF_WORDS },
		{ .kind = VP_TRAMP_EXIT },
	};
	static const struct vp_tramp_op arg[] = { { .kind = VP_TRAMP_ARG, .a = 1 } };
	struct tf_machine *m = tf_create();
	const uint32_t n = OT_ARRAY_SIZE(at_return);
	(void)state;

	fx_no_error(vp_trampoline_check(&m->guest, VP_TRAMP_AT_RETURN, at_return, n));
	refused(m, at_return, n, 12, __LINE__);
	refused_at(m, VP_TRAMP_NOWHERE, at_return + 1, 1, 12, __LINE__);
	fx_no_error(vp_trampoline_check(&m->guest, VP_TRAMP_AT_ENTRY, arg, 1));
	refused_at(m, VP_TRAMP_AT_RETURN, arg, 1, 12, __LINE__);
	refused_at(m, VP_TRAMP_AT_RETURN, good, (uint32_t)N, 12, __LINE__); /* a record */
	tf_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),    cmocka_unit_test(test_values), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_records), cmocka_unit_test(test_keys),   cmocka_unit_test(test_entries),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
