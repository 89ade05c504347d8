/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers: at a hit from kvm_run, where KVM stored them at the exit; for a snapshot by ioctl, while vCPUs
 * are held. */
#include <sys/ioctl.h>

#include "vmm-probe/backend/kvm/internal.h"

#define GENERAL VP_KVM_GENERAL

uint64_t vp_kvm_sync_for(uint64_t regs)
{
	return KVM_SYNC_X86_REGS | (regs & ~GENERAL ? KVM_SYNC_X86_SREGS : 0);
}

uint64_t vp_kvm_reg(void *backend, void *ctx, enum vp_reg reg)
{
	const struct vp_kvm_vcpu *v = ctx;
	const struct kvm_run *run = v->run;

	(void)backend;
	return vp_kvm_reg_of(&run->s.regs.regs,
			     run->kvm_valid_regs & KVM_SYNC_X86_SREGS ? &run->s.regs.sregs : NULL, reg);
}

bool vp_kvm_read_regs(const struct vp_kvm_vcpu *v, struct vp_regs *ret)
{
	struct kvm_regs regs;
	struct kvm_sregs sregs;

	if (ioctl(v->fd, KVM_GET_REGS, &regs) || ioctl(v->fd, KVM_GET_SREGS, &sregs))
		return false;
	for (unsigned i = 0; i < VP_NREGS; i++) {
		ret->v[i] = vp_kvm_reg_of(&regs, &sregs, (enum vp_reg)i);
		ret->valid |= i == VP_K_GS_BASE ? 0 : VP_REG_BIT(i);
	}
	return true;
}

uint32_t vp_kvm_held_regs(void *backend, struct vp_regs *regs, uint32_t max)
{
	const struct vp_kvm *kvm = backend;
	uint32_t n = kvm->config.nvcpus < max ? kvm->config.nvcpus : max, filled = 0;

	for (uint32_t i = 0; i < n; i++) {
		regs[i] = (struct vp_regs){ 0 };
		filled += vp_kvm_read_regs(&kvm->vcpus[i], &regs[i]);
	}
	return filled;
}

uint32_t vp_kvm_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	struct vp_kvm *kvm = backend;

	vp_kvm_hold(kvm);
	uint32_t filled = vp_kvm_held_regs(kvm, regs, max);
	vp_kvm_release(kvm);
	return filled;
}
