/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbolic execution of single x86-64 instructions, as capstone decodes them. For one thread. */
#ifndef VP_SYMBOLIC_EXECUTE_H
#define VP_SYMBOLIC_EXECUTE_H

#include "vmm-probe/symbolic/state.h"

struct vp_executor;

enum vp_flow {
	VP_FLOW_NEXT,   /* on to the next instruction */
	VP_FLOW_JUMP,   /* to `target` */
	VP_FLOW_BRANCH, /* to `target` if `condition` holds, else on */
	VP_FLOW_CALL,   /* calls `target` (0: not known) and continues; the state is that before the call */
	VP_FLOW_END,    /* a return, an indirect jump, a trap, or no instruction */
};

struct vp_step {
	enum vp_flow flow;
	uint8_t len;
	uint64_t target;
	enum vp_condition condition; /* BRANCH */
	uint64_t bit_test;           /* BRANCH: the constant address of the bits whose bt it tests; else 0 */
};

OT_MUST_CHECK struct ot_err *vp_executor_create(struct vp_executor **ret);
void vp_executor_destroy(struct vp_executor *executor);

/** Execute the instruction at @p gva, of whose bytes @p len are at @p bytes, on @p state. What is not known
 * of an instruction makes the registers that it writes unknown. */
struct vp_step vp_execute(struct vp_executor *executor, struct vp_exprs *exprs, struct vp_state *state,
			  uint64_t gva, const uint8_t *bytes, unsigned len);

#endif
