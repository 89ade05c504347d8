/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Emulating instructions that a KVM refuses if it emulates kernel mode itself. Only instructions without
 * memory operands: their bytes are in the exit.
 */
#include <string.h>
#include <sys/ioctl.h>

#include "vmm-probe/monitor/internal.h"

#define RFLAGS_AC (1ull << 18)
#define CR4_SMAP  (1ull << 21)

static bool is_insn(const struct kvm_run *run, const uint8_t *bytes, unsigned len)
{
	return run->emulation_failure.insn_size >= len &&
	       !memcmp(run->emulation_failure.insn_bytes, bytes, len);
}

/* Inject #BP for an int3 of the guest's own. RIP is set after it first: such a KVM pushes the current RIP. */
static bool reinject_int3(int fd, struct kvm_regs *regs)
{
	struct kvm_guest_debug inject = { .control = KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_INJECT_BP },
			       off = { 0 };

	regs->rip++;
	return !ioctl(fd, KVM_SET_REGS, regs) && !ioctl(fd, KVM_SET_GUEST_DEBUG, &inject) &&
	       !ioctl(fd, KVM_SET_GUEST_DEBUG, &off);
}

bool vp_mon_do_refused(struct vp_mon *mon, uint32_t vcpu)
{
	static const uint8_t int3[] = { 0xcc }, clac[] = { 0x0f, 0x01, 0xca }, stac[] = { 0x0f, 0x01, 0xcb };
	static const uint8_t fwait[] = { 0x9b };
	const struct vp_mon_vcpu *v = &mon->vcpus[vcpu];
	struct kvm_regs regs;
	struct kvm_sregs sregs;

	if (!(v->run->emulation_failure.flags & KVM_INTERNAL_ERROR_EMULATION_FLAG_INSTRUCTION_BYTES) ||
	    ioctl(v->fd, KVM_GET_REGS, &regs) || ioctl(v->fd, KVM_GET_SREGS, &sregs))
		return false;
	if (is_insn(v->run, int3, sizeof(int3)))
		return reinject_int3(v->fd, &regs);
	/* Without SMAP, or in user mode, clac and stac raise #UD: not emulated. */
	bool smap = sregs.cr4 & CR4_SMAP && !(sregs.cs.selector & 3);
	if (is_insn(v->run, clac, sizeof(clac)) && smap) {
		regs.rflags &= ~RFLAGS_AC;
		regs.rip += sizeof(clac);
	} else if (is_insn(v->run, stac, sizeof(stac)) && smap) {
		regs.rflags |= RFLAGS_AC;
		regs.rip += sizeof(stac);
	} else if (is_insn(v->run, fwait, sizeof(fwait))) {
		regs.rip += sizeof(fwait); /* in a kernel no x87 exception is pending */
	} else {
		return false;
	}
	return !ioctl(v->fd, KVM_SET_REGS, &regs);
}
