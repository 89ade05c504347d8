/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of x86-64. */
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/arch/x86/code/code.h"
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

/* The kernel's is GS base; in user mode, and in the kernel before its SWAPGS, it is in the other register. */
static unsigned percpu_bases(const struct vp_regs *regs, uint64_t ret[VP_PERCPU_BASES])
{
	bool user = regs->valid & VP_REG_BIT(VP_CS) && vp_mode_is_user(regs->v[VP_CS]);
	unsigned n = 0;

	if (!user && regs->valid & VP_REG_BIT(VP_GS_BASE))
		ret[n++] = regs->v[VP_GS_BASE];
	if (regs->valid & VP_REG_BIT(VP_K_GS_BASE))
		ret[n++] = regs->v[VP_K_GS_BASE];
	return n;
}

const struct vp_arch_ops vp_arch_x86 = {
	.name = "x86-64",
	.paging = &vp_x86_paging,
	.levels = { 4, 5 },
	.user_root = VP_X86_PTI_USER,
	/* X86_FEATURE_PTI, arch/x86/include/asm/cpufeatures.h */
	.user_root_when = { "boot_cpu_data", "cpuinfo_x86", "x86_capability", 7, 11 },
	.page_root = page_root,
	.code = &vp_x86_code,
	.has_orc = true,
	.kernel_start = VP_KERNEL_MAP_START,
	.kernel_end = VP_KERNEL_MAP_END,
	.constants_align = VP_KERNEL_CONSTANTS_ALIGN,
	/* VMEMMAP_START without CONFIG_DYNAMIC_MEMORY_LAYOUT, arch/x86/include/asm/pgtable_64_types.h */
	.vmemmap = 0xffffea0000000000,
	.percpu_bases = percpu_bases,
	.ptregs = { .args = { "di", "si", "dx", "r10", "r8", "r9" },
		    .args_32 = { "bx", "cx", "dx", "si", "di", "bp" },
		    .syscall = "orig_ax",
		    .pc = "ip",
		    .sp = "sp",
		    .fp = "bp",
		    .mode = "cs",
		    .general = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di", "r8", "r9", "r10", "r11",
				 "r12", "r13", "r14", "r15" } },
	.thread_pointer = "thread.fsbase",
	.syscall_prefix = "__x64_sys_",
	.syscall_prefix_32 = "__ia32_", /* sys_, compat_sys_ */
	.syscall_prefixes_32 = { "__ia32_compat_sys_ia32_", "__ia32_compat_sys_", "__ia32_sys_ia32_",
				 "__ia32_sys_" },
	.syscall_dispatcher = "do_syscall_64",
	/* sysenter and syscall; int $0x80, which older kernels name otherwise */
	.syscall_dispatchers_32 = { "__do_fast_syscall_32", "do_int80_emulation", "do_int80_syscall_32",
				    "do_fast_syscall_32" },
	.syscall_table = "sys_call_table",
	.syscall_table_32 = "ia32_sys_call_table",
	.syscall_switch_32 = { "ia32_sys_call", VP_RSI },
	/* For FRED's larger frame: TOP_OF_KERNEL_STACK_PADDING, arch/x86/include/asm/thread_info.h */
	.stack_padding = { "asm_fred_entrypoint_user", 16 },
};
