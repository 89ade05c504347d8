/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of registers: of gdb's features org.gnu.gdb.i386.core, .segments and .linux, and QEMU's own. */
#include "vmm-probe/arch/regs.h"

const char *const vp_reg_names[VP_NREGS] = {
	[VP_RAX] = "rax",
	[VP_RCX] = "rcx",
	[VP_RDX] = "rdx",
	[VP_RBX] = "rbx",
	[VP_RSP] = "rsp",
	[VP_RBP] = "rbp",
	[VP_RSI] = "rsi",
	[VP_RDI] = "rdi",
	[VP_R8] = "r8",
	[VP_R9] = "r9",
	[VP_R10] = "r10",
	[VP_R11] = "r11",
	[VP_R12] = "r12",
	[VP_R13] = "r13",
	[VP_R14] = "r14",
	[VP_R15] = "r15",
	[VP_RIP] = "rip",
	[VP_RFLAGS] = "eflags",
	[VP_CS] = "cs",
	[VP_SS] = "ss",
	[VP_FS_BASE] = "fs_base",
	[VP_GS_BASE] = "gs_base",
	[VP_K_GS_BASE] = "k_gs_base",
	[VP_CR0] = "cr0",
	[VP_CR2] = "cr2",
	[VP_CR3] = "cr3",
	[VP_CR4] = "cr4",
	[VP_EFER] = "efer",
};
