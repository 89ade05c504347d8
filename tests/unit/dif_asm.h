/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects from text, for tables of tests:
 *
 *   "setx 5 1; setx 3 2; sub 1 2 3; ret 3"
 *
 * Operands stand as in the published listing, source first, registers as bare numbers:
 *
 *   R3, CMP, TST   registers                 RET    register
 *   R2, ST         source, destination       BR     instruction number
 *   setx           value, register           sets   text without blanks, register
 *   ARR            array, index register, register
 *   LDV, STV       variable, register        CALL   subroutine, register
 *   PUSH           kind, size register, value register
 *   word           a whole instruction
 *
 * A number is C's, or one of the names below; "#n" is an index as it stands. Every object declares the
 * variables 0x500 (int) and 0x502 (string), and the array 0x501 (int) of each scope that has arrays.
 */
#ifndef TESTS_UNIT_DIF_ASM_H
#define TESTS_UNIT_DIF_ASM_H

#include "tests/unit/dif_fixture.h"

static inline uint64_t asm_number(const char *word)
{
	static const struct {
		const char *name;
		uint64_t value;
	} names[] = {
		{ "KERNEL", FX_KERNEL },
		{ "KERNEL_END", FX_KERNEL + FX_KERNEL_SIZE },
		{ "USER", FX_USER },
		{ "USER_END", FX_USER + FX_USER_SIZE },
		{ "SCRATCH_SIZE", FX_SCRATCH },
		{ "curthread", DIF_VAR_curthread },
		{ "pid", DIF_VAR_pid },
		{ "uregs", DIF_VAR_uregs },
		{ "speculation", DIF_SUBR_speculation },
		{ "htons", DIF_SUBR_htons },
		{ "strlen", DIF_SUBR_strlen },
		{ "lltostr", DIF_SUBR_lltostr },
	};
	char *end;

	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++)
		if (!strcmp(word, names[i].name))
			return names[i].value;
	uint64_t n = *word == '-' ? (uint64_t)strtoll(word, &end, 0) : strtoull(word, &end, 0);
	if (*end || end == word)
		fail_msg("%s is no number", word);
	return n;
}

static inline uint32_t asm_opcode(const char *name)
{
	for (uint32_t op = 1; op <= DIF_OP_MAX; op++)
		if (!strcmp(name, dif_op_name(op)))
			return op;
	fail_msg("no opcode %s", name);
	return 0;
}

/* setx and sets: an index as it stands, or what the table is to hold. */
static inline uint32_t asm_index(struct fx_object *o, uint32_t op, const char *word)
{
	if (*word == '#')
		return (uint32_t)asm_number(word + 1);
	if (op == DIF_OP_sets)
		return fx_string_n(o, word, strlen(word));
	assert_true(op == DIF_OP_setx && o->obj.int_len < OT_ARRAY_SIZE(o->ints));
	o->ints[o->obj.int_len] = asm_number(word);
	return o->obj.int_len++;
}

static inline uint32_t asm_insn(struct fx_object *o, const char *name, const char *const *words, unsigned n)
{
	/* operands of each class */
	static const uint8_t counts[] = {
		[DIF_CLASS_R3] = 3,   [DIF_CLASS_R2] = 2,  [DIF_CLASS_ST] = 2,  [DIF_CLASS_CMP] = 2,
		[DIF_CLASS_TST] = 1,  [DIF_CLASS_BR] = 1,  [DIF_CLASS_RET] = 1, [DIF_CLASS_NOP] = 0,
		[DIF_CLASS_IDX] = 2,  [DIF_CLASS_ARR] = 3, [DIF_CLASS_LDV] = 2, [DIF_CLASS_STV] = 2,
		[DIF_CLASS_CALL] = 2, [DIF_CLASS_PUSH] = 3
	};
	uint32_t v[3] = { 0, 0, 0 };

	if (!strcmp(name, "word"))
		return (uint32_t)asm_number(words[0]);
	uint32_t op = asm_opcode(name);
	enum dif_op_class class = dif_op_class(op);
	if (n != counts[class])
		fail_msg("%s takes %u operands, not %u", name, counts[class], n);
	for (unsigned i = class == DIF_CLASS_IDX; i < n; i++)
		v[i] = (uint32_t)asm_number(words[i]);
	switch (class) {
	case DIF_CLASS_R2:
	case DIF_CLASS_ST:
		return dif_insn(op, v[0], 0, v[1]);
	case DIF_CLASS_BR:
		return dif_insn_branch(op, v[0]);
	case DIF_CLASS_RET:
		return dif_insn(op, 0, 0, v[0]);
	case DIF_CLASS_IDX:
		return dif_insn_index(op, asm_index(o, op, words[0]), v[1]);
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
	case DIF_CLASS_CALL:
		return dif_insn_index(op, v[0], v[1]);
	default:
		return dif_insn(op, v[0], v[1], v[2]);
	}
}

/** Make @o of @text; a mistake in the text fails the test. */
static inline void asm_object(struct fx_object *o, const char *text)
{
	char copy[512], *line, *lines = copy;

	fx_object_init(o);
	fx_var(o, "gs", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(o, "ga", 0x501, DIF_VARKIND_ARRAY, DIF_SCOPE_GLOBAL, FX_INT);
	fx_var(o, "gt", 0x502, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL, FX_STRING);
	fx_var(o, "ts", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_INT);
	fx_var(o, "ta", 0x501, DIF_VARKIND_ARRAY, DIF_SCOPE_THREAD, FX_INT);
	fx_var(o, "tt", 0x502, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_STRING);
	fx_var(o, "ls", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_LOCAL, FX_INT);
	fx_var(o, "lt", 0x502, DIF_VARKIND_SCALAR, DIF_SCOPE_LOCAL, FX_STRING);
	assert_true(strlen(text) < sizeof(copy));
	strcpy(copy, text);
	while ((line = strsep(&lines, ";"))) {
		const char *words[4] = { NULL };
		unsigned n = 0;
		for (char *word; (word = strsep(&line, " "));)
			if (*word) {
				assert_true(n < 4);
				words[n++] = word;
			}
		if (n)
			fx_op(o, asm_insn(o, words[0], words + 1, n - 1));
	}
}

#endif
