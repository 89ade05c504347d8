/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The interrupt descriptor table (Intel's Software Developer's Manual, volume 3, "64-Bit Mode IDT"). */
#ifndef VP_ARCH_X86_VECTOR_H
#define VP_ARCH_X86_VECTOR_H

#include "vmm-probe/arch/regs.h"

#define VP_VECTOR_WORDS     2
#define VP_X86_VECTOR_FAULT 14 /* page fault: every kernel handles it */

static inline uint64_t vp_native_vector(const struct vp_regs *regs)
{
	uint64_t base = regs->v[VP_IDT_BASE];

	return base ? base + VP_X86_VECTOR_FAULT * VP_VECTOR_WORDS * sizeof(uint64_t) : 0;
}

static inline uint64_t vp_native_vector_handler(const uint64_t gate[VP_VECTOR_WORDS])
{
	return (gate[0] & 0xffff) | (gate[0] >> 32 & 0xffff0000u) | gate[1] << 32;
}

#endif
