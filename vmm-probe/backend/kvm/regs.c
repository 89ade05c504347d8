/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Registers: at a hit from kvm_run, where KVM put them at the exit; for a snapshot by asking, while vCPUs are
 * held. */
#include <sys/ioctl.h>

#include "vmm-probe/backend/kvm/internal.h"

#define GENERAL ((1ull << (VP_RFLAGS + 1)) - 1)

static uint64_t general(const struct kvm_regs *r, enum vp_reg reg)
{
	switch (reg) {
	case VP_RAX:
		return r->rax;
	case VP_RCX:
		return r->rcx;
	case VP_RDX:
		return r->rdx;
	case VP_RBX:
		return r->rbx;
	case VP_RSP:
		return r->rsp;
	case VP_RBP:
		return r->rbp;
	case VP_RSI:
		return r->rsi;
	case VP_RDI:
		return r->rdi;
	case VP_RIP:
		return r->rip;
	case VP_RFLAGS:
		return r->rflags;
	default:
		return (&r->r8)[reg - VP_R8]; /* r8 to r15 stand side by side in KVM's struct */
	}
}

static uint64_t special(const struct kvm_sregs *s, enum vp_reg reg)
{
	switch (reg) {
	case VP_CS:
		return s->cs.selector;
	case VP_SS:
		return s->ss.selector;
	case VP_FS_BASE:
		return s->fs.base;
	case VP_GS_BASE:
		return s->gs.base;
	case VP_CR0:
		return s->cr0;
	case VP_CR2:
		return s->cr2;
	case VP_CR3:
		return s->cr3;
	case VP_CR4:
		return s->cr4;
	case VP_EFER:
		return s->efer;
	case VP_IDT_BASE:
		return s->idt.base;
	default:
		return 0; /* the kernel's GS base while in user mode is an MSR: nobody asks for it at a hit */
	}
}

uint64_t vp_kvm_sync_for(uint64_t regs)
{
	return KVM_SYNC_X86_REGS | (regs & ~GENERAL ? KVM_SYNC_X86_SREGS : 0);
}

uint64_t vp_kvm_reg(void *backend, void *ctx, enum vp_reg reg)
{
	const struct vp_kvm_vcpu *v = ctx;
	const struct kvm_run *run = v->run;

	(void)backend;
	if (VP_REG_BIT(reg) & GENERAL)
		return general(&run->s.regs.regs, reg);
	return run->kvm_valid_regs & KVM_SYNC_X86_SREGS ? special(&run->s.regs.sregs, reg) : 0;
}

static bool read_vcpu(const struct vp_kvm_vcpu *v, struct vp_regs *ret)
{
	struct kvm_regs regs;
	struct kvm_sregs sregs;

	if (ioctl(v->fd, KVM_GET_REGS, &regs) || ioctl(v->fd, KVM_GET_SREGS, &sregs))
		return false;
	for (unsigned i = 0; i < VP_NREGS; i++) {
		ret->v[i] = VP_REG_BIT(i) & GENERAL ? general(&regs, (enum vp_reg)i)
						    : special(&sregs, (enum vp_reg)i);
		ret->valid |= i == VP_K_GS_BASE ? 0 : VP_REG_BIT(i);
	}
	return true;
}

uint32_t vp_kvm_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	struct vp_kvm *kvm = backend;
	uint32_t n = kvm->config.nvcpus < max ? kvm->config.nvcpus : max, filled = 0;

	vp_kvm_hold(kvm);
	for (uint32_t i = 0; i < n; i++) {
		regs[i] = (struct vp_regs){ 0 };
		filled += read_vcpu(&kvm->vcpus[i], &regs[i]);
	}
	vp_kvm_release(kvm);
	return filled;
}
