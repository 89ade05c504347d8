/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each numbered rule of the verifier: what it lets pass, and what breaks it. */
#include "tests/unit/dif_rules.h"

static void expect(struct fx_object *o, const char *rule)
{
	rule_expect(dif_verify(&o->obj), rule);
}

/* An object that is just @insn (and a ret), with tables that valid operands can name. */
static void make(struct fx_object *o, uint32_t insn)
{
	fx_object_init(o);
	o->obj.int_len = 4;
	fx_string_n(o, "abc", 3);
	fx_var(o, "gs", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(o, "ga", 0x501, DIF_VARKIND_ARRAY, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(o, "ts", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_INT);
	fx_var(o, "ta", 0x501, DIF_VARKIND_ARRAY, DIF_SCOPE_THREAD, FX_INT);
	fx_var(o, "ls", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_LOCAL, FX_INT);
	fx_op(o, insn);
	fx_ret(o, 1);
}

static void check(uint32_t insn, const char *rule)
{
	struct fx_object o;

	make(&o, insn);
	expect(&o, rule);
}

/* A valid word for each opcode. */
static uint32_t valid_insn(uint32_t op)
{
	switch (dif_op_class(op)) {
	case DIF_CLASS_BR:
		return dif_insn_branch(op, 1);
	case DIF_CLASS_IDX:
	case DIF_CLASS_CALL:
		return dif_insn_index(op, 1, 1);
	case DIF_CLASS_ARR:
		return dif_insn(op, 0, 1, 1);
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
		return dif_insn_index(op, op >= DIF_OP_ldgaa && op <= DIF_OP_sttaa ? 0x501 : 0x500, 1);
	case DIF_CLASS_CMP:
		return dif_insn(op, 1, 2, 0);
	case DIF_CLASS_TST:
		return dif_insn(op, 1, 0, 0);
	case DIF_CLASS_RET:
		return dif_insn(op, 0, 0, 1);
	case DIF_CLASS_NOP:
		return dif_insn(op, 0, 0, 0);
	case DIF_CLASS_R2:
	case DIF_CLASS_ST:
		return dif_insn(op, 1, 0, 1);
	case DIF_CLASS_PUSH:
		return dif_insn(op, 0, 1, 1);
	case DIF_CLASS_R3:
	case DIF_CLASS_NONE:
		break;
	}
	return dif_insn(op, 1, 2, 3);
}

static void rule_1_size(void **state)
{
	struct fx_object o;
	(void)state;

	about(1, 1);
	check(dif_insn(DIF_OP_nop, 0, 0, 0), NULL);
	make(&o, dif_insn(DIF_OP_nop, 0, 0, 0));
	o.obj.text_len = 0;
	expect(&o, "rule 1 ");

	/* 65,536 instructions are 256 KiB: with a string table that is a byte too much. */
	uint32_t *text = calloc(65536, 4);
	assert_non_null(text);
	for (int i = 0; i < 65536; i++)
		text[i] = dif_insn(i == 65535 ? DIF_OP_ret : DIF_OP_nop, 0, 0, 0);
	fx_object_init(&o);
	o.obj.text = text;
	o.obj.text_len = 65536;
	o.obj.str_len = 0;
	expect(&o, NULL);
	o.obj.str_len = 1;
	expect(&o, "rule 1 ");
	free(text);
	make(&o, dif_insn(DIF_OP_nop, 0, 0, 0));
	o.obj.int_len = 65537;
	expect(&o, "rule 1 ");
}

static void rule_2_ret(void **state)
{
	struct fx_object o;
	(void)state;

	about(2, 2);
	check(dif_insn(DIF_OP_nop, 0, 0, 0), NULL);
	make(&o, dif_insn(DIF_OP_nop, 0, 0, 0));
	o.obj.text_len = 1;
	expect(&o, "rule 2 ");
}

static void rule_3_opcode(void **state)
{
	(void)state;

	about(3, 3);
	for (uint32_t op = 0; op < 256; op++) {
		if (op >= 1 && op < DIF_OP_xlate)
			check(valid_insn(op), NULL);
		else if (op < 1 || op > DIF_OP_MAX)
			check(dif_insn(op, 0, 0, 0), "rule 3 ");
	}
}

static void rule_4_xlate(void **state)
{
	(void)state;

	about(4, 4);
	for (uint32_t op = 1; op <= DIF_OP_MAX; op++)
		check(valid_insn(op), op == DIF_OP_xlate || op == DIF_OP_xlarg ? "rule 4 " : NULL);
}

/* The class determines which fields are registers; each of these fields is made invalid in turn. */
static void rule_5_registers(void **state)
{
	unsigned broken = 0;
	(void)state;

	about(5, 5);
	for (uint32_t op = 1; op < DIF_OP_xlate; op++) {
		enum dif_op_class c = dif_op_class(op);
		bool r1 = c == DIF_CLASS_R3 || c == DIF_CLASS_R2 || c == DIF_CLASS_ST || c == DIF_CLASS_CMP ||
			  c == DIF_CLASS_TST;
		bool r2 =
		    c == DIF_CLASS_R3 || c == DIF_CLASS_CMP || c == DIF_CLASS_ARR || c == DIF_CLASS_PUSH;
		bool rd = c != DIF_CLASS_CMP && c != DIF_CLASS_TST && c != DIF_CLASS_BR && c != DIF_CLASS_NOP;
		uint32_t insn = valid_insn(op);

		check(insn, NULL);
		if (r1)
			check((insn & 0xff00ffff) | DIF_NREGS << 16, "rule 5 ");
		if (r2)
			check((insn & 0xffff00ff) | DIF_NREGS << 8, "rule 5 ");
		if (rd)
			check((insn & 0xffffff00) | 0xff, "rule 5 ");
		broken += r1 + r2 + rd;
	}
	assert_true(broken > 100);
}

static void rule_6_r0(void **state)
{
	(void)state;

	about(6, 6);
	check(dif_insn(DIF_OP_add, 0, 0, 1), NULL);
	check(dif_insn(DIF_OP_add, 1, 2, 0), "rule 6 ");
	check(dif_insn(DIF_OP_mov, 1, 0, 0), "rule 6 ");
	check(dif_insn_index(DIF_OP_setx, 0, 0), "rule 6 ");
	check(dif_insn_index(DIF_OP_ldgs, 0x500, 0), "rule 6 ");
	check(dif_insn(DIF_OP_ldga, 0, 1, 0), "rule 6 ");
	check(dif_insn_index(DIF_OP_call, 0, 0), "rule 6 ");
	/* These only read it. */
	check(dif_insn_index(DIF_OP_stgs, 0x500, 0), NULL);
	check(dif_insn(DIF_OP_stx, 1, 0, 0), NULL);
	check(dif_insn(DIF_OP_copys, 1, 2, 0), NULL);
	check(dif_insn(DIF_OP_pushtv, 0, 0, 0), NULL);
}

static void rule_7_reserved(void **state)
{
	(void)state;

	about(7, 7);
	check(dif_insn(DIF_OP_mov, 1, 0, 2), NULL);
	check(dif_insn(DIF_OP_mov, 1, 1, 2), "rule 7 ");
	check(dif_insn(DIF_OP_stx, 1, 1, 2), "rule 7 ");
	check(dif_insn(DIF_OP_cmp, 1, 1, 1), "rule 7 ");
	check(dif_insn(DIF_OP_tst, 1, 1, 0), "rule 7 ");
	check(dif_insn(DIF_OP_tst, 1, 0, 1), "rule 7 ");
	check(dif_insn(DIF_OP_ret, 1, 0, 1), "rule 7 ");
	check(dif_insn(DIF_OP_nop, 0, 0, 1), "rule 7 ");
	check(dif_insn(DIF_OP_flushts, 1, 0, 0), "rule 7 ");
}

static void rule_8_and_9_branches(void **state)
{
	(void)state;

	about(8, 9);
	for (uint32_t op = DIF_OP_ba; op <= DIF_OP_bleu; op++) {
		check(dif_insn_branch(op, 1), NULL);
		check(dif_insn_branch(op, 2), "rule 8 ");
		check(dif_insn_branch(op, 0xffffff), "rule 8 ");
		check(dif_insn_branch(op, 0), "rule 9 ");
	}
}

static void rule_10_to_12_tables(void **state)
{
	struct fx_object o;
	(void)state;

	about(10, 12);
	check(dif_insn_index(DIF_OP_setx, 3, 1), NULL);
	check(dif_insn_index(DIF_OP_setx, 4, 1), "rule 10 ");
	make(&o, dif_insn_index(DIF_OP_sets, 0, 1));
	o.text[0] = dif_insn_index(DIF_OP_sets, o.obj.str_len - 1, 1);
	expect(&o, NULL);
	o.text[0] = dif_insn_index(DIF_OP_sets, o.obj.str_len, 1);
	expect(&o, "rule 11 ");
	make(&o, dif_insn(DIF_OP_nop, 0, 0, 0));
	o.strs[o.obj.str_len - 1] = 'x';
	expect(&o, "rule 12 ");
}

static void rule_13_to_15_variables(void **state)
{
	(void)state;

	about(13, 15);
	for (uint32_t id = 0; id < 4; id++)
		check(dif_insn(DIF_OP_ldga, id, 1, 1), NULL);
	check(dif_insn(DIF_OP_ldga, 0x40, 1, 1), NULL);
	check(dif_insn(DIF_OP_ldga, 4, 1, 1), "rule 13 ");
	check(dif_insn(DIF_OP_ldga, 0x80, 1, 1), "rule 13 ");
	check(dif_insn(DIF_OP_ldta, 0x80, 1, 1), NULL);

	check(dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 1), NULL);
	check(dif_insn_index(DIF_OP_ldgs, DIF_VAR_guest, 1), NULL);
	check(dif_insn_index(DIF_OP_ldgs, DIF_VAR_args, 1), "rule 14 ");
	check(dif_insn_index(DIF_OP_ldgs, 0x4ff, 1), "rule 14 ");
	check(dif_insn_index(DIF_OP_stgs, DIF_VAR_execname, 1), "rule 14 ");
	check(dif_insn_index(DIF_OP_ldts, DIF_VAR_pid, 1), "rule 14 ");
	check(dif_insn_index(DIF_OP_ldgaa, DIF_VAR_pid, 1), "rule 14 ");

	static const uint8_t scalars[] = { DIF_OP_ldgs, DIF_OP_stgs, DIF_OP_ldts,
					   DIF_OP_stts, DIF_OP_ldls, DIF_OP_stls };
	static const uint8_t arrays[] = { DIF_OP_ldgaa, DIF_OP_stgaa, DIF_OP_ldtaa, DIF_OP_sttaa };
	for (size_t i = 0; i < sizeof(scalars); i++) {
		check(dif_insn_index(scalars[i], 0x500, 1), NULL);
		check(dif_insn_index(scalars[i], 0x501, 1), "rule 15 ");
		check(dif_insn_index(scalars[i], 0x502, 1), "rule 15 ");
	}
	for (size_t i = 0; i < sizeof(arrays); i++) {
		check(dif_insn_index(arrays[i], 0x501, 1), NULL);
		check(dif_insn_index(arrays[i], 0x500, 1), "rule 15 ");
		check(dif_insn_index(arrays[i], 0xffff, 1), "rule 15 ");
	}
}

static void rule_16_and_17_push_call(void **state)
{
	(void)state;

	about(16, 17);
	check(dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 1, 1), NULL);
	check(dif_insn(DIF_OP_pushtr, 2, 1, 1), "rule 16 ");
	check(dif_insn(DIF_OP_pushtv, DIF_TYPE_STRING, 1, 1), "rule 16 ");
	for (uint32_t subr = 0; subr < 0x300; subr++)
		check(dif_insn_index(DIF_OP_call, subr, 1), dif_subr_find(subr) ? NULL : "rule 17 ");
}

static void check_type(struct dif_rtype t, const char *rule)
{
	struct fx_object o;

	make(&o, dif_insn(DIF_OP_nop, 0, 0, 0));
	o.obj.ret = t;
	expect(&o, rule);
}

static void rule_18_returned_type(void **state)
{
	(void)state;

	about(18, 18);
	for (uint32_t size = 0; size < 20; size++) {
		bool ok = size == 0 || size == 1 || size == 2 || size == 4 || size == 8;
		check_type((struct dif_rtype){ 0, 1, 0, 0, size }, ok ? NULL : "rule 18 ");
	}
	check_type((struct dif_rtype){ 0, 6, DIF_TF_BYREF, 0, 0 }, "rule 18 ");
	check_type((struct dif_rtype){ 0, 6, DIF_TF_BYREF, 0, 16 << 20 }, NULL);
	check_type((struct dif_rtype){ 0, 6, DIF_TF_BYREF, 0, (16 << 20) + 1 }, "rule 18 ");
	check_type((struct dif_rtype){ 1, 0, DIF_TF_BYREF, 0, 0 }, NULL);
	check_type((struct dif_rtype){ 1, 0, 0, 0, 8 }, "rule 18 ");
	check_type((struct dif_rtype){ 2, 0, 0, 0, 8 }, "rule 18 ");
	check_type((struct dif_rtype){ 0, 0, 4, 0, 8 }, "rule 18 ");
	check_type((struct dif_rtype){ 0, 0, 0, 1, 8 }, "rule 18 ");
	check_type((struct dif_rtype){ 0, 0, DIF_TF_BYUREF, 0, 8 }, "rule 18 ");
	check_type((struct dif_rtype){ 0, 0, DIF_TF_BYREF | DIF_TF_BYUREF, 0, 8 }, NULL);
}

static void check_var(struct dif_var v, const char *rule)
{
	struct fx_object o;

	make(&o, dif_insn(DIF_OP_nop, 0, 0, 0));
	o.vars[o.obj.var_len++] = v;
	expect(&o, rule);
}

static void rule_19_to_22_variable_table(void **state)
{
	struct dif_rtype big = { 0, 6, DIF_TF_BYREF, 0, 16384 }, bigger = { 0, 6, DIF_TF_BYREF, 0, 16385 };
	(void)state;

	about(19, 22);
	check_var((struct dif_var){ 0, 0x600, 1, 0, 0, FX_INT }, NULL);
	check_var((struct dif_var){ 0, 0x600, 2, 0, 0, FX_INT }, "rule 19 ");
	check_var((struct dif_var){ 0, 0x600, 1, 3, 0, FX_INT }, "rule 19 ");
	check_var((struct dif_var){ 0, 0x600, 1, 0, 4, FX_INT }, "rule 19 ");
	check_var((struct dif_var){ 0, 0x10000, 1, 0, 0, FX_INT }, "rule 19 ");
	check_var((struct dif_var){ 0xffff, 0x600, 1, 0, 0, FX_INT }, "rule 19 ");

	check_var((struct dif_var){ 0, 0x600, 1, 0, 0, { 0, 1, 0, 0, 3 } }, "rule 20 ");
	check_var((struct dif_var){ 0, 0x600, 1, DIF_SCOPE_GLOBAL, 0, big }, NULL);
	check_var((struct dif_var){ 0, 0x600, 1, DIF_SCOPE_GLOBAL, 0, bigger }, "rule 20 ");
	check_var((struct dif_var){ 0, 0x600, 1, DIF_SCOPE_LOCAL, 0, bigger }, "rule 20 ");
	check_var((struct dif_var){ 0, 0x600, 1, DIF_SCOPE_THREAD, 0, bigger }, NULL);

	check_var((struct dif_var){ 0, 0x600, 0, DIF_SCOPE_LOCAL, 0, FX_INT }, "rule 21 ");

	check_var((struct dif_var){ 0, 0x500, 1, DIF_SCOPE_GLOBAL, 0, FX_INT }, "rule 22 ");
	check_var((struct dif_var){ 0, 0x501, 1, DIF_SCOPE_LOCAL, 0, FX_INT }, NULL);
}

static void destructive_is_found(void **state)
{
	struct fx_object o;
	(void)state;

	make(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_copyin, 1));
	expect(&o, NULL);
	assert_false(o.obj.destructive);
	make(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_copyout, 1));
	expect(&o, NULL);
	assert_true(o.obj.destructive);
	make(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_copyoutstr, 1));
	expect(&o, NULL);
	assert_true(o.obj.destructive);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rule_1_size),
		cmocka_unit_test(rule_2_ret),
		cmocka_unit_test(rule_3_opcode),
		cmocka_unit_test(rule_4_xlate),
		cmocka_unit_test(rule_5_registers),
		cmocka_unit_test(rule_6_r0),
		cmocka_unit_test(rule_7_reserved),
		cmocka_unit_test(rule_8_and_9_branches),
		cmocka_unit_test(rule_10_to_12_tables),
		cmocka_unit_test(rule_13_to_15_variables),
		cmocka_unit_test(rule_16_and_17_push_call),
		cmocka_unit_test(rule_18_returned_type),
		cmocka_unit_test(rule_19_to_22_variable_table),
		cmocka_unit_test(destructive_is_found),
		cmocka_unit_test(every_rule_has_both),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
