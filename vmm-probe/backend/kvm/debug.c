/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM_SET_GUEST_DEBUG. Each user of it (int3s, debug registers, a step) sets a field of its own; the control
 * word of a vCPU is computed from them here only.
 *
 * Debug registers that we set through KVM hide the guest's: its own have no effect meanwhile, and every #DB
 * exits.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "vmm-probe/backend/kvm/internal.h"

#define DR7_ALWAYS 0x400u
#define DR6_BITS   0xe00fu /* causes: B0 to B3, BD, BS, BT */

/* Stop at instructions at these addresses: in DR7 a global enable, type and length 0. */
static void set_breakpoints(struct kvm_guest_debug *debug, const uint64_t *at)
{
	debug->arch.debugreg[7] = DR7_ALWAYS;
	for (unsigned i = 0; i < VP_HW_SITES; i++) {
		if (!at[i])
			continue;
		debug->arch.debugreg[i] = at[i];
		debug->arch.debugreg[7] |= 2ull << (2 * i);
		debug->control |= KVM_GUESTDBG_USE_HW_BP;
	}
}

int vp_kvm_debug_vcpu(const struct vp_kvm *kvm, const struct vp_kvm_vcpu *v, uint32_t inject)
{
	struct kvm_guest_debug debug = { .control = inject };

	if (kvm->int3)
		debug.control |= KVM_GUESTDBG_USE_SW_BP;
	if (v->step.on)
		debug.control |=
		    KVM_GUESTDBG_SINGLESTEP | (kvm->config.host.block_irq ? KVM_GUESTDBG_BLOCKIRQ : 0);
	/* The breakpoints of its own site would stop a step before it executes. */
	set_breakpoints(&debug, v->step.on ? v->step.handlers : kvm->hw);
	if (debug.control)
		debug.control |= KVM_GUESTDBG_ENABLE;
	return ioctl(v->fd, KVM_SET_GUEST_DEBUG, &debug) ? errno : 0;
}

static int apply(struct vp_kvm *kvm, bool int3, const uint64_t *hw)
{
	int err = 0;

	kvm->int3 = int3;
	memcpy(kvm->hw, hw, sizeof(kvm->hw));
	for (uint32_t i = 0; i < kvm->config.nvcpus && !err; i++)
		err = vp_kvm_debug_vcpu(kvm, &kvm->vcpus[i], 0);
	return err;
}

struct ot_err *vp_kvm_debug_all(struct vp_kvm *kvm, const struct vp_kvm_traps *traps)
{
	static const uint64_t none[VP_HW_SITES];
	const uint64_t *hw = traps ? traps->hw : none;
	bool int3 = traps && traps->int3, old_int3 = kvm->int3;
	uint64_t old[VP_HW_SITES];

	if (int3 == kvm->int3 && !memcmp(hw, kvm->hw, sizeof(kvm->hw)))
		return NULL;
	memcpy(old, kvm->hw, sizeof(old));
	int err = apply(kvm, int3, hw);
	if (!err)
		return NULL;
	apply(kvm, old_int3, old); /* it was in force: it can't be refused */
	if (err == EBUSY)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "the VMM uses the debug registers itself: remove the hardware breakpoints of the "
		    "debugger at its gdb stub, and try again");
	return ot_err_new(OT_ERR_UNSUPPORTED, "KVM_SET_GUEST_DEBUG is refused: %s", strerror(err));
}

bool vp_kvm_give_back_db(const struct vp_kvm *kvm, const struct vp_kvm_vcpu *v, uint64_t dr6)
{
	struct kvm_debugregs regs;

	if (kvm->config.vmm_debugs && kvm->config.vmm_debugs(kvm->config.arg, (uint32_t)(v - kvm->vcpus)))
		return false;
	if (ioctl(v->fd, KVM_GET_DEBUGREGS, &regs))
		return false;
	regs.dr6 |= dr6 & DR6_BITS;
	return !ioctl(v->fd, KVM_SET_DEBUGREGS, &regs) &&
	       !vp_kvm_debug_vcpu(kvm, v, KVM_GUESTDBG_INJECT_DB) && !vp_kvm_debug_vcpu(kvm, v, 0);
}
