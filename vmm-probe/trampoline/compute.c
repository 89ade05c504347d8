/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arithmetic of a DIF object. It can't fault: only divisions could, and those that are left are by constants.
 */
#include "vmm-probe/trampoline/walk.h"

/* Arithmetic changes the processor's flags. */
static void lose_codes(struct vp_tramp_walk *w)
{
	if (w->now.codes != VP_FLOW_KNOWN)
		w->now.codes = VP_FLOW_LOST;
}

struct ot_err *vp_tramp_no_number(const struct vp_flow_value *v)
{
	switch (v->kind) {
	case VP_FLOW_PERCPU:
		return VP_TRAMP_REFUSED("percpubase as a number");
	case VP_FLOW_STRING:
		return VP_TRAMP_REFUSED("a string as a value");
	case VP_FLOW_EXECNAME:
		return VP_TRAMP_REFUSED("execname, but to compare it with a constant");
	default:
		return VP_TRAMP_REFUSED("a register that holds no value, or not the same kind on all ways");
	}
}

/* The virtual register with the number of DIF's @reg. */
struct ot_err *vp_tramp_number(struct vp_tramp_walk *w, uint32_t reg, uint8_t *ret)
{
	if (!vp_flow_is_number(vp_tramp_value(w, reg)))
		return vp_tramp_no_number(vp_tramp_value(w, reg));
	*ret = (uint8_t)reg;
	if (!reg) {
		struct vp_tramp_op *zero = vp_tramp_add(w->m, VP_TRAMP_CONST);
		zero->dst = *ret = VP_TRAMP_ZERO;
	}
	return NULL;
}

/* The second operand: a constant where it fits. */
struct ot_err *vp_tramp_second(struct vp_tramp_walk *w, uint32_t reg, uint8_t *ret_b, uint64_t *ret_value)
{
	const struct vp_flow_value *v = vp_tramp_value(w, reg);

	if (v->kind == VP_FLOW_CONST && (int64_t)v->n == (int32_t)v->n) {
		*ret_b = VP_TRAMP_IMM;
		*ret_value = v->n;
		return NULL;
	}
	return vp_tramp_number(w, reg, ret_b);
}

/* --- arithmetic ------------------------------------------------------------------------------ */

static enum vp_tramp_kind kind_of(uint32_t op)
{
	switch (op) {
	case DIF_OP_or:
		return VP_TRAMP_OR;
	case DIF_OP_xor:
		return VP_TRAMP_XOR;
	case DIF_OP_and:
		return VP_TRAMP_AND;
	case DIF_OP_sub:
		return VP_TRAMP_SUB;
	case DIF_OP_add:
		return VP_TRAMP_ADD;
	case DIF_OP_mul:
		return VP_TRAMP_MUL;
	case DIF_OP_sll:
		return VP_TRAMP_SHL;
	case DIF_OP_srl:
		return VP_TRAMP_SHR;
	default:
		return VP_TRAMP_SAR;
	}
}

/* An address that is known by its base stays so if a constant is added. False: it is no such sum. */
static bool displaced(struct vp_tramp_walk *w, struct vp_flow_value *ret)
{
	uint32_t op = dif_insn_op(w->insn);
	const struct vp_flow_value *a = vp_tramp_r1(w), *b = vp_tramp_r2(w);
	bool swapped = op == DIF_OP_add && a->kind == VP_FLOW_CONST;
	const struct vp_flow_value *base = swapped ? b : a, *by = swapped ? a : b;

	if ((op != DIF_OP_add && op != DIF_OP_sub) || by->kind != VP_FLOW_CONST ||
	    (base->kind != VP_FLOW_TASK && base->kind != VP_FLOW_PERCPU))
		return false;
	*ret = (struct vp_flow_value){ base->kind, op == DIF_OP_add ? base->n + by->n : base->n - by->n };
	return true;
}

struct ot_err *vp_tramp_arithmetic(struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn), a = dif_insn_r1(w->insn), b = dif_insn_r2(w->insn);
	struct vp_flow_value result = { VP_FLOW_ANY, 0 };
	uint64_t folded, imm = 0;
	uint8_t from = 0, with = 0;

	if (vp_tramp_r1(w)->kind == VP_FLOW_CONST && vp_tramp_r2(w)->kind == VP_FLOW_CONST &&
	    vp_flow_fold(op, vp_tramp_r1(w)->n, vp_tramp_r2(w)->n, &folded)) {
		vp_tramp_set_const(w, folded);
		return NULL;
	}
	if (displaced(w, &result) && result.kind == VP_FLOW_PERCPU) {
		vp_tramp_set(w, result.kind, result.n);
		return NULL;
	}
	if (op != DIF_OP_sub && vp_tramp_r1(w)->kind == VP_FLOW_CONST) {
		a = dif_insn_r2(w->insn);
		b = dif_insn_r1(w->insn);
	}
	OT_TRY(vp_tramp_number(w, a, &from));
	OT_TRY(vp_tramp_second(w, b, &with, &imm));
	struct vp_tramp_op *o = vp_tramp_add_rd(w, kind_of(op));
	o->a = from;
	o->b = with;
	o->value = imm;
	vp_tramp_set(w, result.kind, result.n);
	lose_codes(w);
	return NULL;
}

struct ot_err *vp_tramp_shift(struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn);
	uint64_t folded;
	uint8_t from = 0;

	if (vp_tramp_r2(w)->kind != VP_FLOW_CONST)
		return VP_TRAMP_REFUSED("a shift by a number that is not constant");
	uint64_t by = vp_tramp_r2(w)->n & 63;
	if (vp_tramp_r1(w)->kind == VP_FLOW_CONST && vp_flow_fold(op, vp_tramp_r1(w)->n, by, &folded)) {
		vp_tramp_set_const(w, folded);
		return NULL;
	}
	OT_TRY(vp_tramp_number(w, dif_insn_r1(w->insn), &from));
	struct vp_tramp_op *o = vp_tramp_add_rd(w, kind_of(op));
	o->a = from;
	o->value = by;
	vp_tramp_set(w, VP_FLOW_ANY, 0);
	lose_codes(w);
	return NULL;
}

/* A power of two divides by a shift or a mask. */
struct ot_err *vp_tramp_divide(struct vp_tramp_walk *w)
{
	uint32_t op = dif_insn_op(w->insn);
	uint64_t by = vp_tramp_r2(w)->n;
	uint8_t from = 0;

	if (op == DIF_OP_sdiv || op == DIF_OP_srem || vp_tramp_r2(w)->kind != VP_FLOW_CONST || !by ||
	    by & (by - 1) || by > INT32_MAX)
		return VP_TRAMP_REFUSED("a division");
	OT_TRY(vp_tramp_number(w, dif_insn_r1(w->insn), &from));
	struct vp_tramp_op *o = vp_tramp_add_rd(w, op == DIF_OP_udiv ? VP_TRAMP_SHR : VP_TRAMP_AND);
	o->a = from;
	o->b = op == DIF_OP_udiv ? 0 : VP_TRAMP_IMM;
	o->value = op == DIF_OP_udiv ? (uint64_t)__builtin_ctzll(by) : by - 1;
	vp_tramp_set(w, VP_FLOW_ANY, 0);
	lose_codes(w);
	return NULL;
}

struct ot_err *vp_tramp_unary(struct vp_tramp_walk *w, enum vp_tramp_kind kind)
{
	struct vp_flow_value v = *vp_tramp_r1(w);
	uint8_t from = 0;

	if (v.kind == VP_FLOW_CONST) {
		vp_tramp_set_const(w, kind == VP_TRAMP_NOT ? ~v.n : v.n);
		return NULL;
	}
	if (kind == VP_TRAMP_MOV && !vp_flow_is_number(&v)) {
		vp_tramp_set(w, v.kind, v.n);
		return NULL;
	}
	OT_TRY(vp_tramp_number(w, dif_insn_r1(w->insn), &from));
	vp_tramp_add_rd(w, kind)->a = from;
	if (kind == VP_TRAMP_NOT) {
		v = (struct vp_flow_value){ VP_FLOW_ANY, 0 };
		lose_codes(w);
	}
	vp_tramp_set(w, v.kind, v.n);
	return NULL;
}
