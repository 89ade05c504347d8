/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Derives conditions on values from the flags that they set. */
#include "vmm-probe/arch/x86/code/condition.h"

static const struct vp_expr *compare(struct vp_exprs *exprs, const struct vp_flags *f, enum vp_expr_op op,
				     bool swapped)
{
	enum vp_expr_op extend = op == VP_EXPR_LTS ? VP_EXPR_SX : VP_EXPR_ZX;
	const struct vp_expr *a = vp_expr_extend(exprs, extend, f->a, f->size),
			     *b = vp_expr_extend(exprs, extend, f->b, f->size);

	return swapped ? vp_expr_binary(exprs, op, b, a) : vp_expr_binary(exprs, op, a, b);
}

/* Of a comparison; a result is compared with 0. NULL: not known. */
static const struct vp_expr *of_compare(struct vp_exprs *exprs, const struct vp_flags *f,
					enum vp_condition even)
{
	switch (even) {
	case VP_COND_B:
		return compare(exprs, f, VP_EXPR_LTU, false);
	case VP_COND_E:
		return compare(exprs, f, VP_EXPR_EQ, false);
	case VP_COND_BE:
		return vp_expr_not(exprs, compare(exprs, f, VP_EXPR_LTU, true));
	case VP_COND_L:
		return compare(exprs, f, VP_EXPR_LTS, false);
	case VP_COND_LE:
		return vp_expr_not(exprs, compare(exprs, f, VP_EXPR_LTS, true));
	default:
		return NULL;
	}
}

static const struct vp_expr *of_even(const struct vp_state *state, struct vp_exprs *exprs,
				     enum vp_condition even)
{
	struct vp_flags f = state->flags;
	bool signs = even == VP_COND_E || even == VP_COND_S;

	switch (f.kind) {
	case VP_FLAGS_COMPARE:
		/* The sign of a difference that may overflow is that of no comparison. */
		if (even == VP_COND_S)
			f = (struct vp_flags){ .a = vp_expr_binary(exprs, VP_EXPR_SUB, f.a, f.b),
					       .b = vp_expr_const(exprs, 0),
					       .size = f.size };
		break;
	case VP_FLAGS_RESULT:
	case VP_FLAGS_SIGN:
		if (f.kind == VP_FLAGS_SIGN && !signs)
			return NULL;
		f.b = vp_expr_const(exprs, 0);
		break;
	case VP_FLAGS_CARRY:
	case VP_FLAGS_BITS:
		return even == VP_COND_B ? f.a : NULL;
	case VP_FLAGS_UNKNOWN:
		return NULL;
	}
	return of_compare(exprs, &f, even == VP_COND_S ? VP_COND_L : even);
}

const struct vp_expr *vp_x86_condition(const struct vp_state *state, struct vp_exprs *exprs,
				       enum vp_condition condition)
{
	const struct vp_expr *even = of_even(state, exprs, (enum vp_condition)(condition & ~1));

	return condition & 1 ? vp_expr_not(exprs, even) : even;
}
