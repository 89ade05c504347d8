/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbolic execution of single instructions: the interface of an architecture's executor. For one thread. */
#ifndef VP_SYMBOLIC_EXECUTE_H
#define VP_SYMBOLIC_EXECUTE_H

#include "vmm-probe/symbolic/state.h"

enum vp_flow {
	VP_FLOW_NEXT,   /* on to the next instruction */
	VP_FLOW_JUMP,   /* to `target` */
	VP_FLOW_BRANCH, /* to `target` if `when` is 1, else on */
	VP_FLOW_CALL,   /* calls `target` (0: not known) and continues; the state is that before the call */
	VP_FLOW_END,    /* a return, an indirect jump, a trap, or no instruction */
};

struct vp_step {
	enum vp_flow flow;
	uint8_t len;
	uint64_t target;
	const struct vp_expr *when; /* BRANCH: 1 or 0; NULL: unknown */
	/* BRANCH on one of the bits at a constant address, which is unknown: that address (else 0), and
	 * whether the branch is taken if the bit is set, or if it is clear. */
	uint64_t bit_test;
	bool taken_if_set;
};

/* An architecture's, which made it (vp_code_ops.executor_create()) and keeps its own data behind it. */
struct vp_executor {
	struct vp_step (*execute)(struct vp_executor *executor, struct vp_exprs *exprs,
				  struct vp_state *state, uint64_t gva, const uint8_t *bytes, unsigned len);
	void (*destroy)(struct vp_executor *executor);
};

/** Execute the instruction at @p gva, of whose bytes @p len are at @p bytes, on @p state. If an instruction
 * is not understood, the registers that it writes become unknown. */
static inline struct vp_step vp_execute(struct vp_executor *executor, struct vp_exprs *exprs,
					struct vp_state *state, uint64_t gva, const uint8_t *bytes,
					unsigned len)
{
	return executor->execute(executor, exprs, state, gva, bytes, len);
}

static inline void vp_executor_destroy(struct vp_executor *executor)
{
	if (executor)
		executor->destroy(executor);
}

#endif
