/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the expression of an operand's value. */
#include "vmm-probe/provider/operand.h"

static const struct vp_expr *of_register(struct vp_exprs *x, const struct vp_asm_operand *op)
{
	const struct vp_expr *e = vp_expr_reg(x, op->base);

	return op->shift ? vp_expr_binary(x, VP_EXPR_SHR, e, vp_expr_const(x, op->shift)) : e;
}

static const struct vp_expr *of_memory(struct vp_exprs *x, const struct vp_asm_operand *op, uint64_t symbol,
				       uint32_t size)
{
	const struct vp_expr *at = NULL, *index = NULL;

	if (op->has_base)
		at = vp_expr_reg(x, op->base);
	if (op->has_index) {
		index = vp_expr_reg(x, op->index);
		if (op->scale)
			index = vp_expr_binary(x, VP_EXPR_SHL, index, vp_expr_const(x, op->scale));
		at = at ? vp_expr_binary(x, VP_EXPR_ADD, at, index) : index;
	}
	at = at ? vp_expr_add(x, at, op->value + symbol) : vp_expr_const(x, op->value + symbol);
	return vp_expr_load_user(x, at, size);
}

const struct vp_expr *vp_operand_value(struct vp_exprs *exprs, const struct vp_asm_operand *op,
				       uint64_t symbol, uint32_t size)
{
	switch (op->kind) {
	case VP_ASM_CONST:
		return vp_expr_const(exprs, op->value);
	case VP_ASM_REG:
		return of_register(exprs, op);
	case VP_ASM_MEMORY:
		break;
	}
	return of_memory(exprs, op, symbol, size);
}
