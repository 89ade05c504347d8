/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The known values of registers and condition codes, on the ways through an object. */
#include "vmm-probe/trampoline/flow.h"

struct vp_flow vp_flow_begin(void)
{
	struct vp_flow f = { .reached = true, .codes = VP_FLOW_KNOWN };

	for (unsigned i = 0; i < DIF_NREGS; i++)
		f.regs[i].kind = i ? VP_FLOW_NOTHING : VP_FLOW_CONST;
	return f;
}

static void join_value(struct vp_flow_value *at, const struct vp_flow_value *from)
{
	if (at->kind == from->kind && at->n == from->n)
		return;
	/* Both ways have a number in the register, or one has none. */
	at->kind = vp_flow_is_number(at) && vp_flow_is_number(from) ? VP_FLOW_ANY : VP_FLOW_NOTHING;
	at->n = 0;
}

void vp_flow_join(struct vp_flow *at, const struct vp_flow *from)
{
	if (!at->reached) {
		*at = *from;
		return;
	}
	for (unsigned i = 0; i < DIF_NREGS; i++)
		join_value(&at->regs[i], &from->regs[i]);
	if (at->codes != from->codes ||
	    (at->codes == VP_FLOW_KNOWN &&
	     (at->negative != from->negative || at->zero != from->zero || at->carry != from->carry)))
		at->codes = VP_FLOW_LOST;
}

bool vp_flow_fold(uint32_t op, uint64_t a, uint64_t b, uint64_t *ret)
{
	switch (op) {
	case DIF_OP_or:
		*ret = a | b;
		return true;
	case DIF_OP_xor:
		*ret = a ^ b;
		return true;
	case DIF_OP_and:
		*ret = a & b;
		return true;
	case DIF_OP_sll:
		*ret = a << (b & 63);
		return true;
	case DIF_OP_srl:
		*ret = a >> (b & 63);
		return true;
	case DIF_OP_sra:
		*ret = (uint64_t)((int64_t)a >> (b & 63));
		return true;
	case DIF_OP_sub:
		*ret = a - b;
		return true;
	case DIF_OP_add:
		*ret = a + b;
		return true;
	case DIF_OP_mul:
		*ret = a * b;
		return true;
	default:
		return false;
	}
}

/* The branches by the codes that they test. */
static bool holds(uint32_t op, bool n, bool z, bool c)
{
	switch (op) {
	case DIF_OP_ba:
		return true;
	case DIF_OP_be:
		return z;
	case DIF_OP_bne:
		return !z;
	case DIF_OP_bg:
		return !(z | n);
	case DIF_OP_bgu:
		return !(c | z);
	case DIF_OP_bge:
		return !n;
	case DIF_OP_bgeu:
		return !c;
	case DIF_OP_bl:
		return n;
	case DIF_OP_blu:
		return c;
	case DIF_OP_ble:
		return z | n;
	default: /* bleu */
		return c | z;
	}
}

static enum vp_tramp_cond compared(uint32_t op)
{
	switch (op) {
	case DIF_OP_be:
		return VP_TRAMP_EQUAL;
	case DIF_OP_bne:
		return VP_TRAMP_NOT_EQUAL;
	case DIF_OP_bg:
		return VP_TRAMP_GREATER;
	case DIF_OP_bgu:
		return VP_TRAMP_ABOVE;
	case DIF_OP_bge:
		return VP_TRAMP_NOT_LESS;
	case DIF_OP_bgeu:
		return VP_TRAMP_NOT_BELOW;
	case DIF_OP_bl:
		return VP_TRAMP_LESS;
	case DIF_OP_blu:
		return VP_TRAMP_BELOW;
	case DIF_OP_ble:
		return VP_TRAMP_NOT_GREATER;
	case DIF_OP_bleu:
		return VP_TRAMP_NOT_ABOVE;
	default:
		return VP_TRAMP_ALWAYS;
	}
}

enum vp_flow_taken vp_flow_branch(const struct vp_flow *flow, uint32_t op, enum vp_tramp_cond *ret_cond)
{
	if (op == DIF_OP_ba)
		return VP_FLOW_ALWAYS;
	switch (flow->codes) {
	case VP_FLOW_KNOWN:
		return holds(op, flow->negative, flow->zero, flow->carry) ? VP_FLOW_ALWAYS : VP_FLOW_NEVER;
	case VP_FLOW_COMPARED:
		*ret_cond = compared(op);
		return VP_FLOW_IF;
	case VP_FLOW_TESTED: /* so it depends on `zero`, or on nothing */
		if (holds(op, false, true, false) == holds(op, false, false, false))
			return holds(op, false, true, false) ? VP_FLOW_ALWAYS : VP_FLOW_NEVER;
		*ret_cond = holds(op, false, true, false) ? VP_TRAMP_EQUAL : VP_TRAMP_NOT_EQUAL;
		return VP_FLOW_IF;
	case VP_FLOW_EQUALED:
		*ret_cond = compared(op);
		return op == DIF_OP_be || op == DIF_OP_bne ? VP_FLOW_IF : VP_FLOW_UNKNOWN;
	case VP_FLOW_LOST:
		break;
	}
	return VP_FLOW_UNKNOWN;
}
