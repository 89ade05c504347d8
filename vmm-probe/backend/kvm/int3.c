/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int3: telling that an exit is one, and giving back those that are the guest's own. With
 * KVM_GUESTDBG_USE_SW_BP every int3 of a vCPU comes to us, those of the guest's kprobes, of its patching of
 * its own text and of its debuggers too.
 */
#include <sys/ioctl.h>

#include "vmm-probe/backend/kvm/internal.h"

bool vp_kvm_is_int3(const struct kvm_run *run)
{
	if (run->exit_reason == KVM_EXIT_DEBUG)
		return run->debug.arch.exception == 3;
	return run->exit_reason == KVM_EXIT_INTERNAL_ERROR &&
	       run->emulation_failure.suberror == KVM_INTERNAL_ERROR_EMULATION &&
	       run->emulation_failure.ndata >= 3 &&
	       run->emulation_failure.flags & KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES &&
	       run->emulation_failure.insn_size && run->emulation_failure.insn_bytes[0] == 0xcc;
}

/* Is there an int3 any more? The guest may have taken its own away since the vCPU met it. To hand that one
 * back would be right on VMX, which knows its length; SVM without NRIPS decodes what is there now to find
 * where it ends. To execute what is there is right on both: the vCPU then came a moment later. Ours can't be
 * such: a hit is dealt with whole before its vCPU counts as out, and traps change only when all are. Only
 * kernel text can be read from here; in user mode, and where the failed emulator has sent the bytes along, it
 * is there. */
static bool is_gone(const struct vp_kvm *kvm, uint32_t vcpu)
{
	const struct kvm_run *run = kvm->vcpus[vcpu].run;
	const struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);
	uint8_t byte;

	return run->exit_reason == KVM_EXIT_DEBUG && traps && traps->n &&
	       vp_site_load(traps->list[0].site, vcpu, run->s.regs.regs.rip, &byte, 1) && byte != 0xcc;
}

/* The vCPU's own ioctls here, instead of the synced registers: the exception takes RIP as KVM has it. */
bool vp_kvm_give_back_int3(const struct vp_kvm *kvm, uint32_t vcpu)
{
	const struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	struct kvm_regs regs;

	if (kvm->config.vmm_debugs && kvm->config.vmm_debugs(kvm->config.arg, vcpu))
		return false;
	if (is_gone(kvm, vcpu))
		return true;
	if (kvm->config.host.inject == VP_INJECT_NEVER)
		return false;
	if (kvm->config.host.inject == VP_INJECT_RIP_NEXT) {
		if (ioctl(v->fd, KVM_GET_REGS, &regs))
			return false;
		regs.rip++;
		if (ioctl(v->fd, KVM_SET_REGS, &regs))
			return false;
	}
	return !vp_kvm_debug_vcpu(kvm, v, KVM_GUESTDBG_INJECT_BP) && !vp_kvm_debug_vcpu(kvm, v, 0);
}
