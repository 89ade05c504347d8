/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects from a fuzzer's input, bent into shape: whatever the input is, the verifier passes the object, so
 * that the interpreter and the subroutines see much more than its error paths would let through.
 */
#ifndef TESTS_FUZZ_FUZZ_OBJECT_H
#define TESTS_FUZZ_FUZZ_OBJECT_H

#include "tests/fuzz/fuzz_world.h"

#define NVARS 10

struct input {
	const uint8_t *p;
	size_t left;
};

static uint32_t take(struct input *in, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++) {
		v = v << 8 | (in->left ? *in->p : 0);
		if (in->left) {
			in->p++;
			in->left--;
		}
	}
	return v;
}

/* A table of its own allocation, to the byte. */
static void *take_table(struct input *in, uint32_t n, uint32_t entsize)
{
	uint8_t *t = malloc((size_t)n * entsize + !n);

	if (!t)
		abort();
	for (size_t i = 0; i < (size_t)n * entsize; i++)
		t[i] = (uint8_t)take(in, 1);
	return t;
}

/* One variable of each scope and kind, by value and by reference. */
static void bend_vars(struct dif_object *obj, uint32_t byref_size)
{
	static const uint8_t kinds[5][2] = { { 1, 0 }, { 0, 0 }, { 1, 1 }, { 0, 1 }, { 1, 2 } };

	obj->var_len = NVARS;
	obj->vars = calloc(NVARS, sizeof(*obj->vars));
	if (!obj->vars)
		abort();
	for (unsigned i = 0; i < NVARS; i++) {
		struct dif_var *v = &obj->vars[i];
		*v = (struct dif_var){ 0, 0x500 + i, kinds[i / 2][0], kinds[i / 2][1], 3, { 0, 0, 0, 0, 8 } };
		if (i % 2)
			v->type = (struct dif_rtype){ byref_size & 1, 0, DIF_TF_BYREF, 0, byref_size };
	}
}

static uint32_t bend_variable(uint32_t op, uint32_t any)
{
	static const struct {
		uint8_t load, store, first;
	} where[] = { { DIF_OP_ldgs, DIF_OP_stgs, 0 },
		      { DIF_OP_ldgaa, DIF_OP_stgaa, 2 },
		      { DIF_OP_ldts, DIF_OP_stts, 4 },
		      { DIF_OP_ldtaa, DIF_OP_sttaa, 6 },
		      { DIF_OP_ldls, DIF_OP_stls, 8 } };

	if (op == DIF_OP_ldgs && any % 3 == 0)
		return any % 2 ? DIF_VAR_execname : DIF_VAR_curthread;
	for (unsigned i = 0; i < 5; i++) {
		if (op == where[i].load || op == where[i].store)
			return 0x500 + where[i].first + any % 2;
	}
	return 0x500;
}

static uint32_t bend_insn(const struct dif_object *obj, uint32_t word, uint32_t pc)
{
	uint32_t op = 1 + (word >> 24) % 77, r1 = word >> 16 & 7, r2 = word >> 8 & 7, rd = word & 7;
	uint32_t dst = rd ? rd : 1, any = word >> 8 & 0xffff, subr = any % 56;

	if (pc + 1 == obj->text_len)
		return dif_insn(DIF_OP_ret, 0, 0, rd);
	switch (dif_op_class(op)) {
	case DIF_CLASS_R2:
		return dif_insn(op, r1, 0, dst);
	case DIF_CLASS_ST:
		return dif_insn(op, r1, 0, rd);
	case DIF_CLASS_CMP:
		return dif_insn(op, r1, r2, 0);
	case DIF_CLASS_TST:
		return dif_insn(op, r1, 0, 0);
	case DIF_CLASS_BR:
		return dif_insn_branch(op, pc + 1 + any % (obj->text_len - pc - 1));
	case DIF_CLASS_RET:
		return dif_insn(DIF_OP_nop, 0, 0, 0); /* one at the end is enough */
	case DIF_CLASS_NOP:
		return dif_insn(op, 0, 0, 0);
	case DIF_CLASS_IDX:
		return dif_insn_index(op, any % (op == DIF_OP_setx ? obj->int_len : obj->str_len), dst);
	case DIF_CLASS_ARR:
		return dif_insn(op, r1 & 3, r2, dst);
	case DIF_CLASS_LDV:
		return dif_insn_index(op, bend_variable(op, any), dst);
	case DIF_CLASS_STV:
		return dif_insn_index(op, bend_variable(op, any), rd);
	case DIF_CLASS_CALL:
		return dif_insn_index(op, subr < 54 ? subr : 0x100 + subr - 54, dst);
	case DIF_CLASS_PUSH:
		return dif_insn(op, op == DIF_OP_pushtr ? r1 & 1 : 0, r2, rd);
	case DIF_CLASS_R3:
	case DIF_CLASS_NONE:
		break;
	}
	return dif_insn(op, r1, r2, dst);
}

/* An object of at most @max + 1 instructions. */
static void take_bent(struct input *in, struct dif_object *obj, uint32_t max)
{
	obj->text_len = 2 + take(in, 1) % max;
	obj->int_len = 8;
	obj->str_len = 48;
	obj->ret = (struct dif_rtype){ take(in, 1) & 1, 0, DIF_TF_BYREF, 0, 16 };
	bend_vars(obj, 1 + take(in, 1) % 80);
	obj->ints = take_table(in, obj->int_len, 8);
	/* Numbers worth having: sizes, guest addresses, addresses in the window. */
	for (unsigned i = 0; i < 6; i++) {
		uint64_t small = obj->ints[i] & 0x3ff;
		if (i & 1)
			obj->ints[i] =
			    i < 4 ? WORLD_GUEST + small : dif_window_addr(1 + small % 6, small >> 3);
		else
			obj->ints[i] = small;
	}
	obj->strs = take_table(in, obj->str_len, 1);
	obj->strs[obj->str_len - 1] = 0;
	obj->text = take_table(in, obj->text_len, 4);
	for (uint32_t pc = 0; pc < obj->text_len; pc++)
		obj->text[pc] = bend_insn(obj, obj->text[pc], pc);
}

static void free_object(struct dif_object *obj)
{
	free(obj->ints);
	free(obj->strs);
	free(obj->vars);
	free(obj->text);
}

#endif
