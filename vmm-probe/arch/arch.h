/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest's architecture for the operator's process: constants, and functions over given bytes and registers.
 * The model is drgn's struct drgn_architecture_info. Engines, where a hit must not pay for an indirect call,
 * use the same facts through native.h.
 *
 * Every function may be called by any thread; none keeps state. A missing one (NULL) means that the
 * architecture does not support the operation, and the caller refuses requests that need it.
 */
#ifndef VP_ARCH_ARCH_H
#define VP_ARCH_ARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/arch/code.h"
#include "vmm-probe/arch/paging.h"
#include "vmm-probe/arch/regs.h"

/* A bit of the kernel's list of the CPU's features: of a 32-bit word in an array, which is a member of a
 * variable. */
struct vp_cpu_feature {
	const char *symbol, *type, *member;
	unsigned word, bit;
};

#define VP_PERCPU_BASES 2

/* One struct with many fields: a table of all that an architecture decides. */
struct vp_arch_ops {
	const char *name; /* as messages have it: "x86-64" */

	/* --- page tables --- */
	const struct vp_paging *paging;
	/* Numbers of levels to try if registers do not show it; 0: no further one. */
	uint8_t levels[2];
	/* Set in the address of a process's second top table, which does not map the kernel: the full one is
	 * at the address without it. 0: there are none. */
	uint64_t user_root;
	struct vp_cpu_feature user_root_when; /* the kernel uses such tables */
	/** The top table that a vCPU's registers name; levels is 0 if @p regs do not show it. False: they
	 * name no table. */
	bool (*page_root)(const struct vp_regs *regs, struct vp_page_root *ret);

	/* --- instructions; NULL: unknown, and there is no probe on code (vp_arch_code()) --- */
	const struct vp_code_ops *code;
	/* Linux describes stack frames in ORC tables here. */
	bool has_orc;

	/* --- where Linux maps its image --- */
	uint64_t kernel_start, kernel_end; /* [start, end), in which nothing else is mapped */
	uint64_t constants_align;          /* of the constants behind the text */
	/* The table of struct page, in a kernel that has no variable for its address; 0: unknown. */
	uint64_t vmemmap;

	/* --- Linux's conventions --- */
	/** Addresses that may be of the per-CPU area of the CPU whose registers these are, the likeliest
	 * first. Returns their number. They are hostile: user code may have set them. */
	unsigned (*percpu_bases)(const struct vp_regs *regs, uint64_t ret[VP_PERCPU_BASES]);
	/* Members of struct pt_regs: a system call's arguments, a 32-bit one's, its
	 * number, what VP_REG_PC … name, and all that compilers keep values in. */
	struct {
		const char *args[6], *args_32[6], *syscall, *pc, *sp, *fp, *mode;
		const char *general[VP_NREGS_GENERAL]; /* by enum vp_reg; NULL: it has none */
	} ptregs;
	const char *thread_pointer; /* of struct task_struct: the base of thread-local storage */
	/* Exactly the functions that implement 64-bit system calls are named PREFIX + name. A second name
	 * with the other prefix means that 32-bit calls reach them too. The dispatcher is their only
	 * caller. */
	const char *syscall_prefix, *syscall_prefix_32, *syscall_dispatcher;
	/* The callers of 32-bit calls' functions, up to NULL: a kernel has some of them. */
	const char *syscall_dispatchers_32[5];
	/* Arrays of these functions, by number. */
	const char *syscall_table, *syscall_table_32;
	/* The function that selects a 32-bit call's function if there is no such array, and its parameter for
	 * that.
	 */
	struct {
		const char *function;
		enum vp_reg number;
	} syscall_switch_32;
	/* The prefixes of functions of 32-bit calls, up to NULL. Of several functions with one name, the one
	 * whose prefix comes first is called; the last prefix is of functions that 64-bit calls use too. */
	const char *syscall_prefixes_32[6];
	/* Free bytes at the top of each kernel stack in kernels that have this symbol. */
	struct {
		const char *symbol;
		uint32_t bytes;
	} stack_padding;
};

extern const struct vp_arch_ops vp_arch_x86;
/* Without page tables, traps or disassembly: tests use it to show that reader and planner are free of x86. */
extern const struct vp_arch_ops vp_arch_null;

/* The one that this is built for. */
#ifdef VP_ARCH_NULL
#define vp_arch_native vp_arch_null
#else
#define vp_arch_native vp_arch_x86
#endif

#endif
