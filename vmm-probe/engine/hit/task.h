/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Built-in variables: the running task by the facts, and the probe's arguments. Hit path. */
#ifndef VP_ENGINE_HIT_TASK_H
#define VP_ENGINE_HIT_TASK_H

#include "vmm-probe/engine/hit/hit_session.h"

extern const struct dif_vm_ops vp_dif_ops;

/** The running task's address, 0: unknown. */
uint64_t vp_task(struct vp_vcpu_session *v);
/** A field of @p task of @p size (4 or 8) bytes; 0 if the kernel has no such field. BADADDR in *fault. */
uint64_t vp_task_field(struct vp_vcpu_session *v, uint64_t task, uint32_t offset, uint32_t size,
		       enum dif_fault *fault);
/** 0 in a task, 1 in a soft interrupt, 2 in a hard one, 3 in an NMI. */
uint32_t vp_interrupt_level(struct vp_vcpu_session *v);
/** Address of the registers (struct pt_regs) with which the task with this stack entered the kernel, at the
 * stack's top. A guest address, unchecked. */
static inline uint64_t vp_user_regs(const struct vp_facts *f, uint64_t stack)
{
	return stack + f->stack_size - f->stack_padding - f->ptregs_size;
}

/** Is the condition of a site (vp_batch_site.syscall, not 0) met? A number: the task is in that system call,
 * and the function that ends here returns to the dispatcher of system calls. If it can't be known: false for
 * a number, true for the ABI. */
bool vp_in_syscall(struct vp_vcpu_session *v, uint32_t condition);
/** Does the vCPU's task belong to that process, or to a child that has its memory by vfork(), and does the
 * process still run the same program? */
bool vp_in_process(struct vp_vcpu_session *v, const struct vp_batch_process *process);
/** Is the page that the vCPU executes at @p pc, in user mode, the file's own page in which its offset @p at
 * is?
 * @p file: address of its struct address_space. */
bool vp_in_file(struct vp_vcpu_session *v, uint64_t pc, uint64_t file, uint64_t at);
/** Is the vCPU in user mode, so that its registers are the process's? */
bool vp_runs_user(struct vp_vcpu_session *v);
/** The running task's name, zeros behind its end; all zero if it is unknown. Only where the kernel's names
 * have VP_NAME_BYTES at most. */
void vp_task_name(struct vp_vcpu_session *v, uint64_t name[VP_NAME_WORDS]);
/** Zero the bytes behind the name's NUL, which are rests of the task's earlier names. */
void vp_cut_name(uint64_t name[VP_NAME_WORDS]);
/** The length of such a name. */
static inline uint32_t vp_name_length(const uint64_t name[VP_NAME_WORDS])
{
	if (name[1])
		return VP_NAME_BYTES - (uint32_t)__builtin_clzll(name[1]) / 8;
	return name[0] ? 8 - (uint32_t)__builtin_clzll(name[0]) / 8 : 0;
}
/** Value of DIF_VAR_pid, tid, ppid, uid or gid. */
uint64_t vp_task_id(struct vp_vcpu_session *v, uint32_t var, enum dif_fault *fault);
/** Time that the task has run, ns. */
uint64_t vp_vtimestamp(struct vp_vcpu_session *v, enum dif_fault *fault);
bool vp_progenyof(struct vp_vcpu_session *v, uint64_t pid);
void vp_thread_key(struct vp_vcpu_session *v, struct dif_thread_key *ret);

#endif
