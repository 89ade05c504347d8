/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types and names of a system call's parameters, by the metadata that the kernel keeps for its own tracing.
 */
#ifndef VP_PROVIDER_SYSCALL_ARGS_H
#define VP_PROVIDER_SYSCALL_ARGS_H

#include "vmm-probe/provider/provider.h"

/** The guest's struct syscall_metadata of a call (include/trace/syscall.h: __syscall_meta__NAME); 0: the
 * kernel has none, being built without CONFIG_FTRACE_SYSCALLS or without data symbols. */
uint64_t vp_syscall_metadata(struct vp_probes *probes, const char *name);

/** The number of its parameters; -1: unknown. The metadata is hostile: more than six are unknown. */
int vp_syscall_nargs(struct vp_probes *probes, uint64_t metadata);

/** Parameter @p n: its native type, name and mapping. A type that the guest's BTF does not have is unsigned
 * long; pointers are to user space. False: no such parameter, or the metadata can't be read. */
bool vp_syscall_arg(struct vp_probes *probes, uint64_t metadata, unsigned n, struct dif_probe_arg *ret);

#endif
