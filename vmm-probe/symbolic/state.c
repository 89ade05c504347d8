/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers, stack and flags of a symbolic evaluation. */
#include "vmm-probe/symbolic/state.h"

#include <string.h>

void vp_state_init(struct vp_state *state, struct vp_exprs *exprs)
{
	memset(state, 0, sizeof(*state));
	for (unsigned i = 0; i < OT_ARRAY_SIZE(state->regs); i++)
		state->regs[i] = vp_expr_reg(exprs, (enum vp_reg)i);
}

static bool overlaps(const struct vp_stack_slot *slot, int64_t at, unsigned size)
{
	return slot->at < at + (int64_t)size && at < slot->at + (int64_t)slot->size;
}

static const struct vp_expr *load_stack(const struct vp_state *state, struct vp_exprs *exprs,
					const struct vp_expr *address, int64_t at, unsigned size)
{
	for (unsigned i = 0; i < state->nslots; i++) {
		const struct vp_stack_slot *slot = &state->slots[i];

		if (slot->at == at && size <= slot->size)
			return vp_expr_extend(exprs, VP_EXPR_ZX, slot->value, size);
		if (overlaps(slot, at, size))
			return NULL;
	}
	/* A function that was called may have been given the address of a variable there. */
	return state->stack_unknown || state->memory_unknown ? NULL : vp_expr_load(exprs, address, size);
}

const struct vp_expr *vp_state_load(const struct vp_state *state, struct vp_exprs *exprs,
				    const struct vp_expr *address, unsigned size)
{
	int64_t at;
	uint64_t v;

	if (vp_expr_is_reg_plus(address, VP_RSP, &at))
		return load_stack(state, exprs, address, at, size);
	if (state->memory_unknown &&
	    !(vp_expr_is_const(address, &v) && v - state->stable < state->stable_size))
		return NULL;
	return vp_expr_load(exprs, address, size);
}

static void drop_slot(struct vp_state *state, unsigned i)
{
	state->slots[i] = state->slots[--state->nslots];
}

void vp_state_store(struct vp_state *state, const struct vp_expr *address, unsigned size,
		    const struct vp_expr *value)
{
	int64_t at;

	if (!vp_expr_is_reg_plus(address, VP_RSP, &at)) {
		state->memory_unknown = true;
		return;
	}
	for (unsigned i = 0; i < state->nslots;) {
		struct vp_stack_slot *slot = &state->slots[i];

		if (!overlaps(slot, at, size)) {
			i++;
		} else if (slot->at >= at && slot->at + (int64_t)slot->size <= at + (int64_t)size) {
			drop_slot(state, i);
		} else {
			slot->value = NULL; /* written in part */
			i++;
		}
	}
	if (state->nslots == VP_STATE_SLOTS) {
		state->stack_unknown = true;
		return;
	}
	state->slots[state->nslots++] = (struct vp_stack_slot){ .at = at, .size = size, .value = value };
}

void vp_state_call(struct vp_state *state)
{
	static const uint8_t clobbered[] = { VP_RAX, VP_RCX, VP_RDX, VP_RSI, VP_RDI,
					     VP_R8,  VP_R9,  VP_R10, VP_R11 };

	for (size_t i = 0; i < OT_ARRAY_SIZE(clobbered); i++)
		state->regs[clobbered[i]] = NULL;
	state->flags.kind = VP_FLAGS_UNKNOWN;
	state->memory_unknown = true;
}

/* --- conditions ----------------------------------------------------------------------------------------- */

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
		return even == VP_COND_B ? f.a : NULL;
	case VP_FLAGS_UNKNOWN:
	case VP_FLAGS_BITS:
		return NULL;
	}
	return of_compare(exprs, &f, even == VP_COND_S ? VP_COND_L : even);
}

const struct vp_expr *vp_state_condition(const struct vp_state *state, struct vp_exprs *exprs,
					 enum vp_condition condition)
{
	const struct vp_expr *even = of_even(state, exprs, (enum vp_condition)(condition & ~1));

	return condition & 1 ? vp_expr_not(exprs, even) : even;
}
