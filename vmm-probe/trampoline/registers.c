/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Virtual registers become real ones. All jumps go forward, so a value lives at most from the first operation
 * that names its register to the last one, and one pass backwards finds all uses.
 */
#include "vmm-probe/trampoline/maker.h"

static bool has_b(const struct vp_tramp_op *op)
{
	bool binary = (op->kind >= VP_TRAMP_ADD && op->kind <= VP_TRAMP_XOR) ||
		      op->kind == VP_TRAMP_COMPARE || op->kind == VP_TRAMP_KEYED || op->keyed;

	return binary && op->b != VP_TRAMP_IMM;
}

static bool has_a(const struct vp_tramp_op *op)
{
	switch ((enum vp_tramp_kind)op->kind) {
	case VP_TRAMP_ADD:
	case VP_TRAMP_SUB:
	case VP_TRAMP_MUL:
	case VP_TRAMP_AND:
	case VP_TRAMP_OR:
	case VP_TRAMP_XOR:
	case VP_TRAMP_COMPARE:
	case VP_TRAMP_KEYED:
	case VP_TRAMP_MOV:
	case VP_TRAMP_SHL:
	case VP_TRAMP_SHR:
	case VP_TRAMP_SAR:
	case VP_TRAMP_NOT:
	case VP_TRAMP_TEST:
	case VP_TRAMP_SUM:
	case VP_TRAMP_LEAST:
	case VP_TRAMP_MOST:
	case VP_TRAMP_QUANTIZE:
	case VP_TRAMP_LQUANTIZE:
		return true;
	default:
		return false;
	}
}

/* Has KEYED this further word of a key? */
static bool has_word(const struct vp_tramp_op *op, uint8_t reg)
{
	return op->kind == VP_TRAMP_KEYED && reg != VP_TRAMP_IMM;
}

/* Registers that an operation reads; bits. */
static uint32_t uses(const struct vp_tramp_op *op)
{
	return (has_a(op) ? 1u << op->a : 0) | (has_b(op) ? 1u << op->b : 0) |
	       (has_word(op, op->c) ? 1u << op->c : 0) | (has_word(op, op->d) ? 1u << op->d : 0);
}

static bool is_value(const struct vp_tramp_op *op)
{
	return op->kind >= VP_TRAMP_CONST && op->kind <= VP_TRAMP_KEYED;
}

/* Operations whose result is not read become NOPs. @kept: registers that are read behind the last one. */
static void prune(struct vp_tramp_op *ops, uint32_t n, uint32_t kept)
{
	uint32_t live[VP_TRAMP_OPS_MAX + 1] = { 0 }; /* by register, before each operation */

	_Static_assert(VP_TRAMP_VIRTUALS <= 32, "a bit for each register");

	live[n] = kept;
	for (uint32_t i = n; i-- > 0;) {
		struct vp_tramp_op *op = &ops[i];
		uint32_t after = live[i + 1];
		if (op->kind == VP_TRAMP_JUMP) {
			uint32_t there = op->target <= n ? live[op->target] : 0;
			after = op->cond == VP_TRAMP_ALWAYS ? there : after | there;
		}
		if (is_value(op) && !(after >> op->dst & 1))
			*op = (struct vp_tramp_op){ .kind = VP_TRAMP_NOP };
		if (is_value(op))
			after &= ~(1u << op->dst);
		live[i] = after | uses(op);
	}
}

/* A jump over nothing. */
static void shorten(struct vp_tramp_op *ops, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = i + 1;
		while (next < n && ops[next].kind == VP_TRAMP_NOP)
			next++;
		if (ops[i].kind == VP_TRAMP_JUMP && ops[i].target <= next)
			ops[i] = (struct vp_tramp_op){ .kind = VP_TRAMP_NOP };
	}
}

/* The operations in which a register has a value: [first, last]. */
struct life {
	uint32_t first, last;
	bool used;
};

static void note(struct life lives[VP_TRAMP_VIRTUALS], uint32_t regs, uint32_t at)
{
	for (unsigned r = 0; r < VP_TRAMP_VIRTUALS; r++) {
		if (!(regs >> r & 1))
			continue;
		if (!lives[r].used)
			lives[r].first = at;
		lives[r].used = true;
		lives[r].last = at;
	}
}

/* The register that outlives these operations. */
struct kept {
	uint8_t reg;   /* 0: there is none */
	uint32_t from; /* the operation that makes its value; 0: they begin with it */
};

/* A register is free again in the operation that reads its value last: results are written after that. False:
 * there are too few. */
static bool choose(const struct life lives[VP_TRAMP_VIRTUALS], const struct kept *kept,
		   uint8_t ret[VP_TRAMP_VIRTUALS])
{
	/* 1 + the last operation that reads the register's value; 0: it has none */
	uint32_t taken[VP_TRAMP_REGS] = { 0 };
	bool done[VP_TRAMP_VIRTUALS] = { false };

	if (kept->reg) {
		ret[VP_TRAMP_ENTRY] = kept->reg;
		done[VP_TRAMP_ENTRY] = true;
	}
	for (unsigned n = 0; n < VP_TRAMP_VIRTUALS; n++) {
		unsigned next = VP_TRAMP_VIRTUALS, reg = 0;
		for (unsigned r = 0; r < VP_TRAMP_VIRTUALS; r++)
			if (lives[r].used && !done[r] &&
			    (next == VP_TRAMP_VIRTUALS || lives[r].first < lives[next].first))
				next = r;
		if (next == VP_TRAMP_VIRTUALS)
			return true;
		while (reg < VP_TRAMP_REGS &&
		       (taken[reg] > lives[next].first + 1 ||
			(kept->reg && reg == kept->reg && lives[next].last > kept->from)))
			reg++;
		if (reg == VP_TRAMP_REGS)
			return false;
		taken[reg] = lives[next].last + 1;
		ret[next] = (uint8_t)reg;
		done[next] = true;
	}
	return true;
}

static void rename_registers(struct vp_tramp_op *op, const uint8_t real[VP_TRAMP_VIRTUALS])
{
	if (is_value(op))
		op->dst = real[op->dst];
	if (has_a(op))
		op->a = real[op->a];
	if (has_b(op))
		op->b = real[op->b];
	if (has_word(op, op->c))
		op->c = real[op->c];
	if (has_word(op, op->d))
		op->d = real[op->d];
}

struct ot_err *vp_tramp_registers(struct vp_tramp_maker *m, uint32_t first)
{
	struct vp_tramp_op *ops = m->out->ops + first;
	struct life lives[VP_TRAMP_VIRTUALS] = { 0 };
	uint8_t real[VP_TRAMP_VIRTUALS] = { 0 };
	struct kept kept = { .reg = m->entry };
	uint32_t n = m->out->nops - first;

	for (uint32_t i = 0; i < n; i++)
		if (ops[i].kind == VP_TRAMP_JUMP && ops[i].target != VP_TRAMP_SKIP)
			ops[i].target = (uint16_t)(ops[i].target - first);
	prune(ops, n, m->entry ? 1u << VP_TRAMP_ENTRY : 0);
	shorten(ops, n);
	for (uint32_t i = 0; i < n; i++)
		note(lives, uses(&ops[i]) | (is_value(&ops[i]) ? 1u << ops[i].dst : 0), i);
	if (lives[VP_TRAMP_ENTRY].used && ops[lives[VP_TRAMP_ENTRY].first].kind == VP_TRAMP_KEYED)
		kept.from = lives[VP_TRAMP_ENTRY].first;
	if (!choose(lives, &kept, real))
		return ot_err_new(OT_ERR_LIMIT, "more than %u values at a time", VP_TRAMP_REGS);
	for (uint32_t i = 0; i < n; i++) {
		rename_registers(&ops[i], real);
		if (ops[i].kind == VP_TRAMP_JUMP && ops[i].target != VP_TRAMP_SKIP)
			ops[i].target = (uint16_t)(ops[i].target + first);
	}
	return NULL;
}
