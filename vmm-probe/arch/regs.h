/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Registers of a vCPU of the architecture that this is built for. Its folder's regs.h numbers them (enum
 * vp_reg, VP_NREGS), and gives the registers that every architecture has a second name: VP_REG_PC, VP_REG_SP,
 * VP_REG_FP …
 */
#ifndef VP_ARCH_REGS_H
#define VP_ARCH_REGS_H

#include <stdbool.h>
#include <stdint.h>

#ifdef VP_ARCH_NULL
#include "vmm-probe/arch/null/regs.h"
#else
#include "vmm-probe/arch/x86/regs.h"
#endif

/* A snapshot; bit N of `valid` says whether v[N] is. */
struct vp_regs {
	uint64_t v[VP_NREGS];
	uint64_t valid;
};

#define VP_REG_BIT(reg) (1ull << (reg))

/* As gdb's target descriptions and QEMU's plugins name them. NULL: it has no name there. */
extern const char *const vp_reg_names[VP_NREGS];

#endif
