/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Objects from a fuzzer's input that trampolines have, mostly: phrases of a few instructions, which the
 * verifier passes whatever the input is.
 */
#ifndef TESTS_FUZZ_TRAMPOLINE_OBJECT_H
#define TESTS_FUZZ_TRAMPOLINE_OBJECT_H

#include <stdio.h>
#include <stdlib.h>

#include "dif/obj/verify.h"
#include "vmm-probe/arch/regs.h"

#define INSNS_MAX  40u
#define PHRASE_MAX 4u /* instructions */
#define NINTS      48u

struct input {
	const uint8_t *p;
	size_t left;
	uint64_t seed; /* of all of it: what goes on where it ends */
};

struct object {
	struct dif_object obj;
	uint32_t text[INSNS_MAX + 1];
	uint64_t ints[NINTS];
	char strs[24];
};

/* Numbers made of a seed. */
static uint32_t made(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*seed >> 33);
}

/* A byte of the input, or of what is made of it. */
static uint32_t take(struct input *in)
{
	if (!in->left)
		return made(&in->seed) & 0xff;
	in->left--;
	return *in->p++;
}

static void must(bool holds, const char *what, const char *more)
{
	if (holds)
		return;
	fprintf(stderr, "%s%s\n", what, more);
	abort();
}

/* --- objects --------------------------------------------------------------------------------- */

/* An object on its way: phrases of a few instructions, which go on where the next one begins. */
struct maker {
	struct input *in;
	struct object *o;
	uint32_t n, end;           /* instructions so far, and at most */
	uint8_t starts[INSNS_MAX]; /* of phrases */
	uint32_t nstarts;
};

#define TEMP  7u /* registers that hold nothing between phrases */
#define TEMP2 6u

static void add(struct maker *k, uint32_t insn)
{
	k->o->text[k->n++] = insn;
}

/* Registers 1 to 5 hold numbers. */
static uint32_t reg(struct maker *k)
{
	return 1 + take(k->in) % 5;
}

static uint32_t scalar(struct maker *k)
{
	static const uint16_t usual[] = { DIF_VAR_arg0, DIF_VAR_arg1,      DIF_VAR_arg2, DIF_VAR_arg3,
					  DIF_VAR_arg4, DIF_VAR_arg5,      DIF_VAR_pid,  DIF_VAR_tid,
					  DIF_VAR_epid, DIF_VAR_curthread, DIF_VAR_id,   DIF_VAR_guestid };

	return usual[take(k->in) % OT_ARRAY_SIZE(usual)];
}

static uint32_t constant(struct maker *k, uint64_t value)
{
	if (k->o->obj.int_len < NINTS)
		k->o->ints[k->o->obj.int_len++] = value;
	return take(k->in) % k->o->obj.int_len;
}

/* small, at the bounds of 32 bits, a power of two, negative, large */
static uint64_t number(struct maker *k)
{
	uint64_t low = take(k->in);

	switch (take(k->in) % 8) {
	case 0:
		return -low;
	case 1:
		return 0x7fffff80 + low;
	case 2:
		return 1ull << (low & 63);
	case 3:
		return low << 56 | low << 20 | low;
	default:
		return low;
	}
}

static void set_temp(struct maker *k, uint64_t value)
{
	k->o->ints[k->o->obj.int_len] = value;
	add(k, dif_insn_index(DIF_OP_setx, k->o->obj.int_len++, TEMP));
}

/* --- phrases ----------------------------------------------------------------------------------- */

static void calculate(struct maker *k)
{
	static const uint8_t ops[] = { DIF_OP_or,  DIF_OP_xor, DIF_OP_and, DIF_OP_sub,
				       DIF_OP_add, DIF_OP_mul, DIF_OP_sub, DIF_OP_add };

	add(k, dif_insn(ops[take(k->in) % sizeof(ops)], take(k->in) % 6, take(k->in) % 6, reg(k)));
}

/* By a constant, which a shift or a division needs. */
static void calculate_by(struct maker *k)
{
	static const uint8_t ops[] = { DIF_OP_sll,  DIF_OP_srl, DIF_OP_sra, DIF_OP_udiv,
				       DIF_OP_urem, DIF_OP_add, DIF_OP_mul };
	uint32_t op = ops[take(k->in) % sizeof(ops)], by = take(k->in);

	set_temp(k, op == DIF_OP_udiv || op == DIF_OP_urem ? 1ull << by % 31 : by < 64 ? by : number(k));
	add(k, dif_insn(op, reg(k), TEMP, reg(k)));
}

static void read_variable(struct maker *k)
{
	add(k, dif_insn_index(DIF_OP_ldgs, scalar(k), reg(k)));
}

static void read_memory(struct maker *k)
{
	static const uint8_t loads[] = { DIF_OP_ldsb, DIF_OP_ldsh, DIF_OP_ldsw, DIF_OP_ldub,
					 DIF_OP_lduh, DIF_OP_lduw, DIF_OP_rldx, DIF_OP_ldx };
	bool task = take(k->in) & 1;

	add(k, dif_insn_index(DIF_OP_ldgs, task ? DIF_VAR_curthread : DIF_VAR_percpubase, TEMP2));
	set_temp(k, take(k->in) * (task ? 2 : 1));
	add(k, dif_insn(DIF_OP_add, TEMP2, TEMP, TEMP2));
	add(k, dif_insn(loads[take(k->in) % sizeof(loads)], TEMP2, 0, reg(k)));
}

static void move(struct maker *k)
{
	add(k, dif_insn(take(k->in) & 1 ? DIF_OP_mov : DIF_OP_not, take(k->in) % 6, 0, reg(k)));
}

static void set_number(struct maker *k)
{
	add(k, dif_insn_index(DIF_OP_setx, constant(k, number(k)), reg(k)));
}

/* The label is chosen when all phrases are there. */
static void branch(struct maker *k, uint32_t op)
{
	add(k, dif_insn_branch(op, 0));
}

static void compare(struct maker *k)
{
	if (take(k->in) % 4)
		add(k, dif_insn(DIF_OP_cmp, take(k->in) % 6, take(k->in) % 6, 0));
	else
		add(k, dif_insn(DIF_OP_tst, reg(k), 0, 0));
	branch(k, DIF_OP_ba + take(k->in) % 11);
}

static void compare_name(struct maker *k)
{
	add(k, dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, TEMP2));
	add(k, dif_insn_index(DIF_OP_sets, take(k->in) % (uint32_t)sizeof(k->o->strs), TEMP));
	if (take(k->in) & 1)
		add(k, dif_insn(DIF_OP_scmp, TEMP, TEMP2, 0));
	else
		add(k, dif_insn(DIF_OP_scmp, TEMP2, TEMP, 0));
	branch(k, take(k->in) & 1 ? DIF_OP_be : DIF_OP_bne);
}

static void read_argument(struct maker *k)
{
	set_temp(k, take(k->in) % 16 ? take(k->in) % VP_NREGS_ARGS : 14);
	add(k, dif_insn(DIF_OP_ldga, DIF_VAR_args, TEMP, reg(k)));
}

/* What is refused, mostly. */
static void anything(struct maker *k)
{
	static const uint8_t ops[] = { DIF_OP_sdiv, DIF_OP_urem,  DIF_OP_sll, DIF_OP_ldx,
				       DIF_OP_uldx, DIF_OP_copys, DIF_OP_stx, DIF_OP_allocs };
	uint32_t op = ops[take(k->in) % sizeof(ops)];

	add(k, dif_insn(op, reg(k), dif_op_class(op) == DIF_CLASS_R3 ? reg(k) : 0, reg(k)));
}

static void phrase(struct maker *k)
{
	static void (*const phrases[])(struct maker *) = {
		calculate,     calculate,    calculate,  calculate_by, read_variable, read_variable,
		read_memory,   move,         set_number, compare,      compare,       compare_name,
		read_argument, calculate_by, calculate,  calculate,
	};
	uint32_t which = take(k->in);

	(which == 0xff ? anything : phrases[which % OT_ARRAY_SIZE(phrases)])(k);
}

/* --- an object --------------------------------------------------------------------------------- */

/* Branches lead to phrases behind them, or to the end. */
static void choose_labels(struct maker *k)
{
	for (uint32_t pc = 0; pc < k->n; pc++) {
		uint32_t first = 0, insn = k->o->text[pc];
		if (dif_op_class(dif_insn_op(insn)) != DIF_CLASS_BR)
			continue;
		while (first < k->nstarts && k->starts[first] <= pc)
			first++;
		uint32_t n = k->nstarts - first + 1, at = first + take(k->in) % n;
		k->o->text[pc] = dif_insn_branch(dif_insn_op(insn), at < k->nstarts ? k->starts[at] : k->n);
	}
}

static void bend_object(struct input *in, struct object *o)
{
	struct maker k = { .in = in, .o = o, .end = 5 + take(in) % (INSNS_MAX - 4) };

	*o = (struct object){ .obj = { .text = o->text, .ints = o->ints, .strs = o->strs } };
	for (unsigned i = 0; i + 1 < sizeof(o->strs); i++)
		o->strs[i] = (char)(i % 8 == 7 ? 0 : 'a' + i % 8);
	for (unsigned i = 1; i < 6; i++)
		add(&k, dif_insn_index(DIF_OP_ldgs, scalar(&k), i));
	while (k.n + PHRASE_MAX <= k.end) {
		k.starts[k.nstarts++] = (uint8_t)k.n;
		phrase(&k);
	}
	choose_labels(&k);
	add(&k, dif_insn(DIF_OP_ret, 0, 0, take(in) % 6));
	o->obj.text_len = k.n;
	o->obj.str_len = sizeof(o->strs);
	o->obj.ret = (struct dif_rtype){ DIF_TYPE_CTF, DIF_CTF_INTEGER, 0, 0, 8 };
	struct ot_err *err = dif_verify(&o->obj);
	must(!err, "a well-formed object was refused: ", err ? ot_err_message(err) : "");
}

#endif
