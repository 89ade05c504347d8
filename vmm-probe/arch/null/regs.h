/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of the null architecture: only those that every architecture has. Built into tests
 * (VP_ARCH_NULL). */
#ifndef VP_ARCH_NULL_REGS_H
#define VP_ARCH_NULL_REGS_H

#include <stdbool.h>
#include <stdint.h>

enum vp_reg {
	VP_REG_PC,
	VP_REG_SP,
	VP_REG_FP,
	VP_REG_MODE, /* 1: user code runs */
	VP_REG_ROOT,
	VP_REG_RESULT,
	VP_REG_ARG0,
	VP_NREGS,
};

#define VP_REGS_UNWIND VP_REG_SP, VP_REG_SP, VP_REG_SP, VP_REG_SP
#define VP_REGS_ARGS   VP_REG_ARG0
#define VP_NREGS_ARGS  1
#define VP_REGS_DWARF  VP_REG_RESULT, VP_REG_ARG0

#define VP_REG_HOTSPOT_BYTECODE VP_REG_ARG0

#define VP_CALL_PUSHES    0
#define VP_NREGS_GENERAL  VP_NREGS
#define VP_REGS_CLOBBERED VP_REG_RESULT, VP_REG_ARG0

#define VP_STACK_ARG_AT(n)  (8 * (n))
#define VP_TRAP_FRAME_WORDS 3
#define VP_TRAP_FRAME_PC    0
#define VP_TRAP_FRAME_MODE  1
#define VP_TRAP_FRAME_SP    2

static inline bool vp_mode_is_user(uint64_t mode)
{
	return mode == 1;
}

#endif
