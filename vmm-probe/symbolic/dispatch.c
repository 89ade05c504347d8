/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows a function that selects another one by a number: see dispatch.h. */
#include "vmm-probe/symbolic/dispatch.h"

#define STEPS_MAX 256u /* a tree of 512 cases is some 10 comparisons deep, with two branches each */

/* The address to which @p step at @p pc leads; 0: unknown. */
static uint64_t follow(const struct vp_dispatch *d, uint64_t pc, const struct vp_step *step, bool *ret_called)
{
	uint64_t taken;

	switch (step->flow) {
	case VP_FLOW_NEXT:
		return pc + step->len;
	case VP_FLOW_JUMP:
		return step->target;
	case VP_FLOW_BRANCH:
		return !vp_expr_is_const(step->when, &taken) ? 0 : taken ? step->target : pc + step->len;
	case VP_FLOW_CALL:
		*ret_called = pc != d->hook;
		return *ret_called ? step->target : pc + step->len;
	case VP_FLOW_END:
		break;
	}
	return 0;
}

static uint64_t walk(const struct vp_dispatch *d, struct vp_exprs *exprs, uint64_t number)
{
	struct vp_state state;
	uint64_t pc = d->start;
	uint8_t bytes[15];

	vp_state_init(&state, exprs);
	state.regs[d->reg] = vp_expr_const(exprs, number);
	for (unsigned i = 0; i < STEPS_MAX; i++) {
		bool called = false;
		unsigned len = d->text(d->arg, pc, bytes);
		struct vp_step step = vp_execute(d->executor, exprs, &state, pc, bytes, len);

		pc = follow(d, pc, &step, &called);
		if (!pc || exprs->failed)
			return 0;
		if (called || pc - d->start >= d->size)
			return pc;
	}
	return 0;
}

uint64_t vp_dispatch_target(const struct vp_dispatch *dispatch, uint64_t number)
{
	struct vp_exprs exprs;

	vp_exprs_init(&exprs);
	uint64_t target = walk(dispatch, &exprs, number);
	vp_exprs_deinit(&exprs);
	return target;
}
