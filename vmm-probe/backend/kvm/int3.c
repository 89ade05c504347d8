/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * int3: recognising its exits, and returning the guest's own. With KVM_GUESTDBG_USE_SW_BP every int3 of a
 * vCPU exits to us, those of the guest's kprobes, text patching and debuggers too.
 */
#include <sys/ioctl.h>

#include "vmm-probe/arch/x86/insn/opcodes.h"
#include "vmm-probe/backend/kvm/internal.h"

bool vp_kvm_is_int3(const struct kvm_run *run)
{
	if (run->exit_reason == KVM_EXIT_DEBUG)
		return run->debug.arch.exception == 3;
	return run->exit_reason == KVM_EXIT_INTERNAL_ERROR &&
	       run->emulation_failure.suberror == KVM_INTERNAL_ERROR_EMULATION &&
	       run->emulation_failure.ndata >= 3 &&
	       run->emulation_failure.flags & KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES &&
	       run->emulation_failure.insn_size && run->emulation_failure.insn_bytes[0] == VP_OPCODE_INT3;
}

/* Is the int3 gone? The guest may have removed its own since the vCPU executed it. Returning it anyway would
 * be right on VMX, which knows its length; SVM without NRIPS decodes the present bytes to find its end.
 * Executing the present bytes is right on both: as if the vCPU arrived a moment later. An int3 of ours can't
 * be gone: a hit is handled completely before its vCPU counts as out, and traps change only while all are
 * out. Only kernel text can be read from here; in user mode, and if the failed emulator has reported the
 * bytes, it is there. */
static bool is_gone(const struct vp_kvm *kvm, uint32_t vcpu)
{
	const struct kvm_run *run = kvm->vcpus[vcpu].run;
	const struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);
	uint8_t byte;

	return run->exit_reason == KVM_EXIT_DEBUG && traps && traps->n &&
	       vp_site_load(traps->list[0].site, vcpu, run->s.regs.regs.rip, &byte, 1) &&
	       byte != VP_OPCODE_INT3;
}

/* With the vCPU's own ioctls instead of the synced registers: the exception uses KVM's RIP. */
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
