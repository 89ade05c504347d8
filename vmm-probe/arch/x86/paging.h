/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page tables of x86-64 in long mode: 4 levels, 5 with CR4.LA57; pages of 4 KiB, 2 MiB and 1 GiB (Intel's
 * Software Developer's Manual, volume 3, "Paging"). CR0.WP is taken to be set, which it nearly always is.
 */
#ifndef VP_ARCH_X86_PAGING_H
#define VP_ARCH_X86_PAGING_H

#include "vmm-probe/arch/paging.h"
#include "vmm-probe/arch/regs.h"

static const struct vp_paging vp_x86_paging = {
	.page_shift = 12,
	.index_bits = 9,
	.large_levels = 3,
	.address = 0x000ffffffffff000ull, /* bits 51 to 12 */
	.present = 1ull << 0,
	.writable = 1ull << 1,
	.user = 1ull << 2,
	.large = 1ull << 7,
	.no_execute = 1ull << 63,
	.kernel_half = 0xff00000000000000ull,
};

#define VP_X86_CR0_PG   (1ull << 31)
#define VP_X86_CR4_LA57 (1ull << 12)
#define VP_X86_EFER_LMA (1ull << 10)

/* With page-table isolation (PTI) each process has two top tables, side by side: the user's is at the address
 * that has this bit, and maps only the kernel's entry code (arch/x86/mm/pti.c of Linux). */
#define VP_X86_PTI_USER 0x1000ull

static inline struct vp_page_root vp_x86_page_root(uint64_t cr3, uint64_t cr4)
{
	return (struct vp_page_root){ cr3 & vp_x86_paging.address, cr4 & VP_X86_CR4_LA57 ? 5 : 4 };
}

/** Is the vCPU in long mode, or entering it? True too if @p regs do not show it: QEMU has EFER, others may
 * not.
 */
static inline bool vp_native_may_be_64bit(const struct vp_regs *regs)
{
	return !(regs->valid & VP_REG_BIT(VP_EFER)) || regs->v[VP_EFER] & VP_X86_EFER_LMA;
}

/** The page tables of a vCPU in 64-bit mode, where instruction pointers are virtual. False: it is in no such
 * mode, or
 * @p regs have not all of VP_PAGING_REGS. */
static inline bool vp_x86_paging_root(const struct vp_regs *regs, struct vp_page_root *ret)
{
	if (!(regs->v[VP_CR0] & VP_X86_CR0_PG) || !(regs->v[VP_EFER] & VP_X86_EFER_LMA))
		return false;
	*ret = vp_x86_page_root(regs->v[VP_CR3], regs->v[VP_CR4]);
	return true;
}

#endif
