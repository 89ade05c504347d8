/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number of a system call's function: by the kernel's table, or by the code that selects the function.
 */
#ifndef VP_PROVIDER_SYSCALL_NUMBERS_H
#define VP_PROVIDER_SYSCALL_NUMBERS_H

#include "vmm-probe/provider/provider.h"

#define VP_SYSCALLS_MAX 1024u

struct vp_syscall_numbers {
	bool read;
	uint32_t n;
	uint64_t functions[VP_SYSCALLS_MAX]; /* by number; 0: unknown */
};

/** Those of 64-bit calls, by the table that kernels keep at least for tracing. None where the engine can't
 * read the number of a task's system call: without BTF, or without the function that calls the system calls'
 * functions. */
void vp_syscall_numbers_read(struct vp_probes *probes, struct vp_syscall_numbers *ret);

/** The same of 32-bit calls, for which newer kernels have code in place of a table. Only once. Errors are
 * those of the text's reading. */
OT_MUST_CHECK struct ot_err *vp_syscall_numbers_read_32(struct vp_probes *probes,
							struct vp_syscall_numbers *ret);

/** The number + 1 of the call that @p function implements; 0: none, or several. */
uint32_t vp_syscall_number(const struct vp_syscall_numbers *numbers, uint64_t function);

/** Can 64-bit processes make the system call of this probe of provider syscall? */
bool vp_syscall_is_native(const struct vp_probe *probe);

#endif
