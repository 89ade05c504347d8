/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions of instructions on a symbolic state's flags. */
#ifndef VP_ARCH_X86_CODE_CONDITION_H
#define VP_ARCH_X86_CODE_CONDITION_H

#include "vmm-probe/symbolic/state.h"

/* The conditions of jcc, setcc and cmovcc, by the low four bits of their opcodes. */
enum vp_condition {
	VP_COND_O,
	VP_COND_NO,
	VP_COND_B,
	VP_COND_AE,
	VP_COND_E,
	VP_COND_NE,
	VP_COND_BE,
	VP_COND_A,
	VP_COND_S,
	VP_COND_NS,
	VP_COND_P,
	VP_COND_NP,
	VP_COND_L,
	VP_COND_GE,
	VP_COND_LE,
	VP_COND_G,
};

/** 1 or 0 as the condition holds; NULL: unknown. */
const struct vp_expr *vp_x86_condition(const struct vp_state *state, struct vp_exprs *exprs,
				       enum vp_condition condition);

#endif
