/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers of a vCPU, by the numbers that instruction encodings give them. */
#ifndef VP_ENGINE_WIRE_REGS_H
#define VP_ENGINE_WIRE_REGS_H

#include <stdbool.h>
#include <stdint.h>

/* clang-format off */
enum vp_reg {
	VP_RAX, VP_RCX, VP_RDX, VP_RBX, VP_RSP, VP_RBP, VP_RSI, VP_RDI,
	VP_R8, VP_R9, VP_R10, VP_R11, VP_R12, VP_R13, VP_R14, VP_R15,
	VP_RIP, VP_RFLAGS, VP_CS, VP_SS, VP_FS_BASE, VP_GS_BASE, VP_K_GS_BASE,
	VP_CR0, VP_CR2, VP_CR3, VP_CR4, VP_EFER,
	VP_IDT_BASE, /* 0 if the backend does not know it */
	VP_NREGS,
};
/* clang-format on */

/* A snapshot; bit N of `valid` says whether v[N] is. */
struct vp_regs {
	uint64_t v[VP_NREGS];
	uint64_t valid;
};

#define VP_REG_BIT(reg) (1ull << (reg))

/* The names of gdb's features org.gnu.gdb.i386.core, .segments and .linux, which QEMU's description and
 * plugins use too. NULL: no name there. */
extern const char *const vp_reg_names[VP_NREGS];

#endif
