/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where things lie in records, tuples and variable space. */
#include "tests/unit/dif_fixture.h"

/* Of a variable: the text, a byte for its NUL, and up to a multiple of 8. */
#define STRING_BYTES (FX_STRSIZE + 8)

static struct fx_object value_of(uint32_t size, uint8_t flags, uint8_t kind)
{
	struct fx_object o;

	fx_object_init(&o);
	o.obj.ret = (struct dif_rtype){ kind, 0, flags, 0, size };
	return o;
}

static void test_record_sizes(void **state)
{
	struct dif_layout_opts opts = { 100, 7, 9, 11, 30 };
	struct dif_object four = { .ret = { 0, 1, 0, 0, 4 } }, string = { .ret = FX_STRING };
	static const struct {
		enum dif_action_kind kind;
		uint64_t arg;
		uint32_t size;
	} cases[] = {
		{ DIF_ACT_printf, 0, 8 },
		{ DIF_ACT_printa, 0, 8 },
		{ DIF_ACT_exit, 0, 4 },
		{ DIF_ACT_stack, 0, 56 },
		{ DIF_ACT_stack, 3, 24 },
		{ DIF_ACT_sym, 0, 8 },
		{ DIF_ACT_mod, 0, 8 },
		{ DIF_ACT_usym, 0, 16 },
		{ DIF_ACT_umod, 0, 16 },
		{ DIF_ACT_uaddr, 0, 16 },
		{ DIF_ACT_ustack, 0, 80 },
		{ DIF_ACT_ustack, 2, 24 },
		{ DIF_ACT_ustack, 5ull << 32 | 2, 32 },
		{ DIF_ACT_jstack, 0, 12 * 8 + 32 },
		{ DIF_ACT_speculate, 0, 0 },
		{ DIF_ACT_commit, 0, 0 },
		{ DIF_ACT_discard, 0, 0 },
		{ DIF_ACT_raise, 0, 0 },
		{ DIF_ACT_stop, 0, 0 },
		{ DIF_ACT_chill, 0, 0 },
		{ DIF_ACT_panic, 0, 0 },
		{ DIF_ACT_breakpoint, 0, 0 },
		{ DIF_ACT_libact, 0, 8 },
	};
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct dif_action a = { .kind = cases[i].kind, .arg = cases[i].arg };
		if (dif_action_record_size(&a, &opts) != cases[i].size)
			fail_msg("%s: %u", dif_action_name(a.kind), dif_action_record_size(&a, &opts));
	}
	struct dif_action a = { .kind = DIF_ACT_difexpr, .object = &four };
	assert_int_equal(dif_action_record_size(&a, &opts), 4);
	a.object = &string;
	assert_int_equal(dif_action_record_size(&a, &opts), 100);
	a.is_increment = true;
	assert_int_equal(dif_action_record_size(&a, &opts), 0);
	a = (struct dif_action){ .kind = DIF_ACT_ustack, .arg = UINT64_MAX };
	assert_int_equal(dif_action_record_size(&a, &opts), UINT32_MAX); /* nothing wraps */
}

static void test_clause(void **state)
{
	struct fx_object one = value_of(1, 0, 0), eight = value_of(8, 0, 0), two = value_of(2, 0, 0);
	struct dif_action actions[4] = { { .kind = DIF_ACT_difexpr, .object = &one.obj },
					 { .kind = DIF_ACT_difexpr, .object = &eight.obj },
					 { .kind = DIF_ACT_speculate, .object = &eight.obj },
					 { .kind = DIF_ACT_difexpr, .object = &two.obj } };
	struct dif_clause clause = { .actions = actions, .nactions = 4 };
	struct dif_layout_opts opts = fx_opts();
	struct dif_clause_layout l;
	struct ot_arena arena;
	(void)state;

	ot_arena_init(&arena);
	fx_no_error(dif_clause_layout(&clause, &opts, &arena, &l));
	assert_int_equal(l.nrecs, 3);
	assert_int_equal(l.recs[0].offset, 12);
	assert_int_equal(l.recs[1].offset, 16);
	assert_int_equal(l.recs[1].action, 1);
	assert_int_equal(l.recs[2].offset, 24);
	assert_int_equal(l.recs[2].action, 3);
	assert_int_equal(l.size, 28);
	assert_int_equal(l.align, 8);
	assert_true(l.speculates);
	assert_false(l.commits);
	assert_false(l.is_default);

	clause.nactions = 0;
	fx_no_error(dif_clause_layout(&clause, &opts, &arena, &l));
	assert_int_equal(l.size, DIF_RECORD_HEADER);
	assert_int_equal(l.align, 4);
	assert_true(l.is_default);

	actions[0].kind = DIF_ACT_commit;
	clause.nactions = 1;
	fx_no_error(dif_clause_layout(&clause, &opts, &arena, &l));
	assert_int_equal(l.size, 0);
	assert_true(l.commits);

	struct fx_object huge = value_of(1u << 30, DIF_TF_BYREF, 0);
	actions[0] = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = &huge.obj };
	fx_error(dif_clause_layout(&clause, &opts, &arena, &l), OT_ERR_LIMIT, "1 GiB");
	actions[0].is_key = true;
	actions[1] = (struct dif_action){ .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 2 };
	clause.nactions = 2;
	fx_error(dif_clause_layout(&clause, &opts, &arena, &l), OT_ERR_LIMIT, "1 GiB");
	ot_arena_deinit(&arena);
}

static void test_tuple(void **state)
{
	struct fx_object two = value_of(2, 0, 0), string = value_of(0, DIF_TF_BYREF, DIF_TYPE_STRING);
	struct fx_object eight = value_of(8, 0, 0);
	struct dif_action actions[5] = {
		{ .kind = DIF_ACT_difexpr, .object = &two.obj, .is_key = true },
		{ .kind = DIF_ACT_difexpr, .object = &string.obj, .is_key = true },
		{ .kind = DIF_ACT_stack, .arg = 2, .is_key = true },
		{ .kind = DIF_ACT_difexpr, .object = &eight.obj, .is_increment = true },
		{ .ntuple = 5, .aggid = 1 }
	};
	struct dif_clause clause = { .actions = actions, .nactions = 5 };
	struct dif_layout_opts opts = { 10, 20, 20, 50, 512 };
	struct dif_clause_layout l;
	struct ot_arena arena;
	(void)state;

	actions[4].kind = (enum dif_action_kind)DIF_AGG_quantize;
	ot_arena_init(&arena);
	fx_no_error(dif_clause_layout(&clause, &opts, &arena, &l));
	assert_int_equal(l.size, 0);
	assert_int_equal(l.naggs, 1);
	assert_int_equal(l.aggs[0].action, 4);
	assert_int_equal(l.aggs[0].nkeys, 3);
	assert_int_equal(l.aggs[0].keys[0].offset, 4);
	assert_int_equal(l.aggs[0].keys[1].offset, 6); /* 10 bytes: aligned to 2 */
	assert_int_equal(l.aggs[0].keys[2].offset, 16);
	assert_int_equal(l.aggs[0].tuple_size, 32);
	assert_int_equal(l.aggs[0].data_offset, 32);
	assert_int_equal(l.aggs[0].nwords, 127);
	assert_int_equal(l.aggs[0].increment_action, 3);
	actions[4].ntuple = 9;
	fx_error(dif_clause_layout(&clause, &opts, &arena, &l), OT_ERR_BAD_DATA, "more keys");
	ot_arena_deinit(&arena);
}

static void test_variables(void **state)
{
	struct dif_rtype st = { DIF_TYPE_CTF, DIF_CTF_STRUCT, DIF_TF_BYREF, 0, 12 };
	struct dif_layout_opts opts = fx_opts();
	struct dif_clause clauses[2] = { 0 };
	struct dif_program prog = { .clauses = clauses, .nclauses = 2 };
	struct dif_var_layout l;
	struct fx_object a, b;
	struct ot_arena arena;
	uint32_t key, value;
	(void)state;

	fx_object_init(&a);
	fx_object_init(&b);
	fx_var(&a, "execname", DIF_VAR_execname, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_STRING);
	fx_var(&a, "i", 0x502, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(&a, "s", 0x501, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_STRING);
	fx_var(&b, "i", 0x502, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(&b, "st", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_LOCAL, st);
	fx_var(&b, "l", 0x503, DIF_VARKIND_SCALAR, DIF_SCOPE_LOCAL, FX_INT);
	clauses[0].predicate = &a.obj;
	clauses[1].predicate = &b.obj;
	ot_arena_init(&arena);
	fx_no_error(dif_var_layout(&prog, &opts, &arena, &l));
	assert_int_equal(l.nslots, 4); /* built-ins have none */
	assert_int_equal(dif_var_slot_find(&l, DIF_SCOPE_GLOBAL, 0x501)->offset, 0);
	assert_int_equal(dif_var_slot_find(&l, DIF_SCOPE_GLOBAL, 0x501)->type.size, FX_STRSIZE);
	assert_int_equal(dif_var_slot_find(&l, DIF_SCOPE_GLOBAL, 0x502)->offset, 8 + STRING_BYTES);
	assert_int_equal(dif_var_slot_find(&l, DIF_SCOPE_LOCAL, 0x503)->offset, 24);
	assert_null(dif_var_slot_find(&l, DIF_SCOPE_GLOBAL, 0x503));
	assert_null(dif_var_slot_find(&l, DIF_SCOPE_GLOBAL, 0x4ff));
	assert_null(dif_var_slot_find(&l, DIF_SCOPE_THREAD, 0x500));
	assert_int_equal(l.globals_size, 16 + STRING_BYTES);
	assert_int_equal(l.locals_size, 32);
	assert_false(l.has_dynamic);
	fx_no_error(dif_dynvar_sizes(&prog, &opts, &l, &key, &value));
	assert_int_equal(key + value, 0);

	/* a[string, int, 100 bytes]: the bound counts what is pushed between two flushts. */
	fx_var(&b, "arr", 0x510, DIF_VARKIND_ARRAY, DIF_SCOPE_GLOBAL, FX_STRING);
	fx_op(&b, dif_insn(DIF_OP_pushtv, 0, 0, 1));
	fx_op(&b, dif_insn(DIF_OP_flushts, 0, 0, 0));
	fx_op(&b, dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 0, 1));
	fx_op(&b, dif_insn(DIF_OP_pushtv, 0, 0, 1));
	fx_setx(&b, 100, 2);
	fx_op(&b, dif_insn(DIF_OP_pushtr, DIF_TYPE_CTF, 2, 1));
	fx_no_error(dif_var_layout(&prog, &opts, &arena, &l));
	assert_true(l.has_dynamic);
	fx_no_error(dif_dynvar_sizes(&prog, &opts, &l, &key, &value));
	assert_int_equal(key, DIF_DYNVAR_KEY_FIXED + (8 + STRING_BYTES) + 16 + (8 + 104));
	assert_int_equal(value, STRING_BYTES);
	ot_arena_deinit(&arena);
}

/* A hostile number of big variables is refused, not allocated. */
static void test_too_many_variables(void **state)
{
	struct dif_layout_opts opts = fx_opts();
	struct dif_clause clause = { 0 };
	struct dif_program prog = { .clauses = &clause, .nclauses = 1 };
	struct dif_var_layout l;
	struct fx_object many;
	struct dif_var vars[100];
	struct ot_arena arena;
	(void)state;

	opts.strsize = 1u << 20;
	ot_arena_init(&arena);
	fx_object_init(&many);
	for (uint32_t i = 0; i < 100; i++)
		vars[i] =
		    (struct dif_var){ 0, 0x600 + i, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, 0, FX_STRING };
	many.obj.vars = vars;
	many.obj.var_len = 100;
	clause.predicate = &many.obj;
	fx_error(dif_var_layout(&prog, &opts, &arena, &l), OT_ERR_LIMIT, "MiB");
	ot_arena_deinit(&arena);
}

#define USES  65536u
#define INSNS 60000u

/* One large object in each action: visiting it for each of them, or searching it from each instruction, would
 * take hours. */
static void test_one_object_for_all(void **state)
{
	struct dif_layout_opts opts = fx_opts();
	struct dif_action *actions = calloc(USES, sizeof(*actions));
	uint32_t *text = calloc(INSNS, sizeof(*text)), key, value;
	uint64_t sizes[] = { 8, 32 };
	struct dif_var var = {
		.id = 0x500, .scope = DIF_SCOPE_GLOBAL, .kind = DIF_VARKIND_ARRAY, .type = FX_INT
	};
	struct dif_object obj = {
		.text = text, .text_len = INSNS, .ints = sizes, .int_len = 2, .vars = &var, .var_len = 1
	};
	struct dif_clause clause = { .actions = actions, .nactions = USES };
	struct dif_program prog = { .clauses = &clause, .nclauses = 1 };
	struct dif_var_layout l;
	struct ot_arena arena;
	(void)state;

	assert_true(actions && text);
	for (unsigned i = 0; i < USES; i++)
		actions[i] = (struct dif_action){ .kind = DIF_ACT_difexpr, .object = &obj };
	text[0] = dif_insn_index(DIF_OP_setx, 0, 3);
	text[1] = dif_insn_index(DIF_OP_setx, 1, 2);
	for (unsigned i = 2; i < INSNS; i++)
		text[i] =
		    i % 2 ? dif_insn(DIF_OP_pushtr, DIF_TYPE_CTF, 2, 1) : dif_insn(DIF_OP_flushts, 0, 0, 0);
	ot_arena_init(&arena);
	fx_no_error(dif_var_layout(&prog, &opts, &arena, &l));
	assert_int_equal(l.nslots, 1);
	fx_no_error(dif_dynvar_sizes(&prog, &opts, &l, &key, &value));
	assert_int_equal(key, 8 + 32 + DIF_DYNVAR_KEY_FIXED);
	assert_int_equal(value, 8);
	ot_arena_deinit(&arena);
	free(text);
	free(actions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_sizes),
		cmocka_unit_test(test_clause),
		cmocka_unit_test(test_tuple),
		cmocka_unit_test(test_variables),
		cmocka_unit_test(test_too_many_variables),
		cmocka_unit_test(test_one_object_for_all),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
