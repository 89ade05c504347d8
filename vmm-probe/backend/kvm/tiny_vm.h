/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VM of one vCPU and 64 KiB, in 64-bit kernel mode, that runs a few bytes of code: it detects the behaviour
 * of a host's KVM by trying it.
 *
 * Memory is mapped one to one. Every exception writes to port VP_TINY_EXCEPTION + its vector and then
 * returns to the interrupted code; `out` to any other port is the code's own way to report.
 * No irqchip: `hlt` exits. It belongs to the thread that created it, whose SIGRTMAX-1 it uses to end a
 * KVM_RUN that does not end by itself.
 */
#ifndef VP_KVM_TINY_VM_H
#define VP_KVM_TINY_VM_H

#include <linux/kvm.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "base/err.h"

#define VP_TINY_CODE      0x8000u /* where the code is loaded; 8 KiB */
#define VP_TINY_CODE_SIZE 0x2000u
#define VP_TINY_STACK     0xfff0u /* RSP at the start */
#define VP_TINY_EXCEPTION 0x10u   /* + vector: the port that reports it */
#define VP_TINY_USER_SS   0x1bu
#define VP_TINY_USER_CS   0x23u
#define VP_TINY_SIZE      0x10000u
/* Only a run that never ends takes this long: a loaded machine may be slow. */
#define VP_TINY_SECONDS   10

struct vp_tiny_vm {
	int vm, vcpu;
	uint8_t *mem; /* VP_TINY_SIZE bytes, guest physical 0 */
	struct kvm_run *run;
	size_t run_size;
	timer_t timer;
	bool has_timer;
};

/** Make the VM on an open /dev/kvm, which stays the caller's. OS, NO_MEMORY, UNSUPPORTED (no 64-bit guests).
 */
OT_MUST_CHECK struct ot_err *vp_tiny_vm_init(struct vp_tiny_vm *vm, int kvm);
/** Also for one that init() never reached, if all its bytes are 0 and the descriptors -1. */
void vp_tiny_vm_deinit(struct vp_tiny_vm *vm);

/** Put @p code at VP_TINY_CODE and the vCPU at its first byte with an empty stack, interrupts off, all
 * debugging off. Its time limit of VP_TINY_SECONDS starts now. LIMIT: longer than VP_TINY_CODE_SIZE. */
OT_MUST_CHECK struct ot_err *vp_tiny_vm_load(struct vp_tiny_vm *vm, const void *code, size_t len);

/** SYSCALL goes to @p entry, in kernel mode with interrupts off. User mode's selectors are VP_TINY_USER_CS
 * and _SS. UNSUPPORTED: KVM does not accept it. */
OT_MUST_CHECK struct ot_err *vp_tiny_vm_set_syscall(struct vp_tiny_vm *vm, uint64_t entry);

/** KVM_SET_GUEST_DEBUG; UNSUPPORTED when KVM refuses @p control (KVM_GUESTDBG_*). @p dr0 is the address of
 * hardware breakpoint 0, in use when @p control has USE_HW_BP. */
OT_MUST_CHECK struct ot_err *vp_tiny_vm_debug(struct vp_tiny_vm *vm, uint32_t control, uint64_t dr0);

/** KVM_RUN until the next exit, which is in vm->run. BUSY: its time has passed. */
OT_MUST_CHECK struct ot_err *vp_tiny_vm_run(struct vp_tiny_vm *vm);

OT_MUST_CHECK struct ot_err *vp_tiny_vm_regs(struct vp_tiny_vm *vm, struct kvm_regs *ret);
OT_MUST_CHECK struct ot_err *vp_tiny_vm_set_regs(struct vp_tiny_vm *vm, const struct kvm_regs *regs);

/** The port of the `out` that the last exit was for; -1: another kind of exit. */
int vp_tiny_vm_out_port(const struct vp_tiny_vm *vm);

#endif
