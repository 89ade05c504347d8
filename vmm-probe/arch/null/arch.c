/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of the null architecture: a kernel in a memory without page tables. */
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/null/linux.h"
#include "vmm-probe/arch/null/paging.h"

static bool page_root(const struct vp_regs *regs, struct vp_page_root *ret)
{
	(void)regs;
	*ret = (struct vp_page_root){ 0 };
	return true;
}

const struct vp_arch_ops vp_arch_null = {
	.name = "null",
	.paging = &vp_null_paging,
	.page_root = page_root,
	.kernel_start = VP_KERNEL_MAP_START,
	.kernel_end = VP_KERNEL_MAP_END,
	.constants_align = VP_KERNEL_CONSTANTS_ALIGN,
};
