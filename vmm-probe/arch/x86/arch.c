/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of x86-64. */
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/x86/linux.h"
#include "vmm-probe/arch/x86/paging.h"

static bool page_root(const struct vp_regs *regs, struct vp_page_root *ret)
{
	if (!(regs->valid & VP_REG_BIT(VP_CR3)))
		return false;
	*ret = vp_x86_page_root(regs->v[VP_CR3], regs->v[VP_CR4]);
	if (!(regs->valid & VP_REG_BIT(VP_CR4)))
		ret->levels = 0;
	return true;
}

const struct vp_arch_ops vp_arch_x86 = {
	.name = "x86-64",
	.paging = &vp_x86_paging,
	.levels = { 4, 5 },
	.user_root = VP_X86_PTI_USER,
	.page_root = page_root,
	.kernel_start = VP_KERNEL_MAP_START,
	.kernel_end = VP_KERNEL_MAP_END,
	.constants_align = VP_KERNEL_CONSTANTS_ALIGN,
};
