/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers and stack of a symbolic evaluation. */
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

	if (vp_expr_is_reg_plus(address, VP_REG_SP, &at))
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

	if (!vp_expr_is_reg_plus(address, VP_REG_SP, &at)) {
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
	static const uint8_t clobbered[] = { VP_REGS_CLOBBERED };

	for (size_t i = 0; i < OT_ARRAY_SIZE(clobbered); i++)
		state->regs[clobbered[i]] = NULL;
	state->flags.kind = VP_FLAGS_UNKNOWN;
	state->memory_unknown = true;
}
