/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Detecting whether a debug register still stops at an instruction before which an interrupt came.
 *
 * An interrupt between two instructions saves RFLAGS as they are, with RF clear, so that iretq returns to an
 * instruction that stops (Intel SDM volume 3B, "Instruction-Breakpoint Exception Condition"). With QEMU's
 * emulation of SVM, RF is set in the flags that an injected interrupt saves: the instruction executes without
 * its stop.
 */
#include <sys/ioctl.h>

#include "vmm-probe/backend/kvm/host_internal.h"

#define RFLAGS_IF (1ull << 9)
#define VECTOR    31u /* no exception, and in the tiny VM's table */

struct ot_err *vp_kvm_try_hw_irq(struct vp_tiny_vm *vm, struct vp_kvm_host *host)
{
	static const uint8_t code[] = {
		0x90, 0x90, 0xe6, VP_TRY_PORT, 0xeb, 0xfe
	}; /* nop; nop; out; jmp . */
	const struct kvm_interrupt interrupt = { .irq = VECTOR };
	struct kvm_regs regs;

	OT_TRY(vp_tiny_vm_load(vm, code, sizeof(code)));
	OT_TRY(vp_tiny_vm_regs(vm, &regs));
	regs.rflags |= RFLAGS_IF;
	OT_TRY(vp_tiny_vm_set_regs(vm, &regs));
	if (!vp_kvm_try_debug(vm, KVM_GUESTDBG_USE_HW_BP, VP_TINY_CODE + 1) || !vp_kvm_try_run(vm) ||
	    vm->run->exit_reason != KVM_EXIT_DEBUG || ioctl(vm->vcpu, KVM_INTERRUPT, &interrupt))
		return NULL;
	if (!vp_kvm_try_run(vm) || vp_tiny_vm_out_port(vm) != VP_TINY_EXCEPTION + VECTOR)
		return NULL;
	/* the handler returns to the second nop */
	host->hw_misses = vp_kvm_try_run(vm) && vp_tiny_vm_out_port(vm) == VP_TRY_PORT;
	return NULL;
}
