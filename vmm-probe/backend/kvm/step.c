/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Steps. An instruction that can't be emulated is executed by the CPU: the trap is removed from guest text
 * while the other vCPUs are held, this one executes a single instruction, and the trap is planted again. A
 * step is a state of its vCPU, not a loop: the vCPU still exits for devices, and the VMM handles those exits.
 *
 * It ends when RIP is no longer at the site, whether the CPU, KVM's emulator or the VMM executed the
 * instruction, or when it was not executed:
 *
 * - It faulted. The CPU is then at the first instruction of a handler, where a debug register stops it; the
 * trace flag is cleared in the flags saved on the stack, and the guest will reach the site again by itself: a
 * hit that is expected (redo.c). Without the stop the handler would run with the others held, and return to
 * the site with the trace flag set.
 * - The VMM wants the vCPU (a kick): the step is deferred in the same way.
 *
 * Interrupts wait for the end: by KVM_GUESTDBG_BLOCKIRQ (since Linux 5.15), else by a cleared IF. No other
 * vCPU waits long: a waiting one ends the step after STEP_NS, and a trap whose steps never complete is
 * removed.
 *
 * The trace flag is KVM's: KVM hides it in RFLAGS while it steps. Instructions that would show it or keep it
 * (pushf, popf, syscall, iret, a load of SS) are refused.
 */
#include <stddef.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

#define EXITS_MAX 64u   /* of one step: its devices' accesses, iterations of a string instruction */
#define TRIES_MAX 1000u /* consecutive steps that did not complete */
#define STEP_NS   20000000ull
#define RFLAGS_TF (1ull << 8)
#define RFLAGS_IF (1ull << 9)
#define DR6_BS    (1u << 14)
#define GATE_SIZE 16u

/* Exceptions that an ordinary instruction may raise, one for each debug register. */
static const uint8_t vectors[VP_HW_SITES] = { 14 /* page fault */, 13 /* protection */, 0 /* division */, 6 };

/* --- what may be stepped over ----------------------------------------------------------------- */

static bool is_prefix(uint8_t b)
{
	return (b & 0xf0) == 0x40 || b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 ||
	       (b & 0xe7) == 0x26 || (b & 0xfe) == 0x64;
}

bool vp_kvm_may_step(const uint8_t *bytes, unsigned len)
{
	unsigned at = 0;

	while (at < len && is_prefix(bytes[at]))
		at++;
	if (at >= len)
		return false;
	uint8_t op = bytes[at], next = at + 1 < len ? bytes[at + 1] : 0;
	switch (op) {
	case 0x8e: /* mov to a segment register: a load of SS delays the trap */
	case 0x9c: /* pushf, popf */
	case 0x9d:
	case 0xca: /* far returns, int3, int, iret */
	case 0xcb:
	case 0xcc:
	case 0xcd:
	case 0xcf:
	case 0xf1: /* int1 */
	case 0xf4: /* hlt */
	case 0xfa: /* cli, sti */
	case 0xfb:
		return false;
	case 0x0f: /* syscall etc., ud2, wrmsr (of FS, GS …), swapgs etc. */
		return next != 0x05 && next != 0x07 && next != 0x0b && next != 0x30 && next != 0x34 &&
		       next != 0x35 &&
		       (next != 0x01 || (at + 2 < len && (bytes[at + 2] == 0xca || bytes[at + 2] == 0xcb)));
	default:
		return true;
	}
}

/* --- beginning -------------------------------------------------------------------------------- */

/* KVM completes an exit for `out` at the next KVM_RUN, and would then advance RIP once more. */
static void finish_out(struct vp_kvm_vcpu *v)
{
	uint8_t kicked, mine = 0x40; /* any value but 0; a concurrent kick writes another */

	if (v->run->exit_reason != KVM_EXIT_IO)
		return;
	kicked = __atomic_exchange_n(&v->run->immediate_exit, mine, __ATOMIC_ACQ_REL);
	ioctl(v->fd, KVM_RUN, 0); /* EINTR: nothing of the guest runs */
	__atomic_compare_exchange_n(&v->run->immediate_exit, &mine, kicked, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

/* By the ioctl and not with the next KVM_RUN: stepping is requested after it, and KVM then reads RIP. */
static bool set_regs(struct vp_kvm_vcpu *v, const struct kvm_regs *regs)
{
	v->run->s.regs.regs = *regs; /* a sample reads these */
	return !ioctl(v->fd, KVM_SET_REGS, regs);
}

/* The handler's address in the guest's gate for @vector; 0: none. */
static uint64_t handler(const struct vp_site *site, uint32_t vcpu, const struct kvm_dtable *idt,
			unsigned vector)
{
	struct {
		uint16_t low, selector;
		uint8_t ist, type;
		uint16_t mid;
		uint32_t high, zero;
	} gate;
	const unsigned at = vector * GATE_SIZE;

	_Static_assert(sizeof(gate) == GATE_SIZE, "a gate as the CPU has it");
	if (idt->limit < at + GATE_SIZE - 1 ||
	    !vp_site_load(site, vcpu, idt->base + at, &gate, sizeof(gate)) || !(gate.type & 0x80))
		return 0;
	return gate.low | (uint64_t)gate.mid << 16 | (uint64_t)gate.high << 32;
}

static bool start(struct vp_kvm *kvm, uint32_t vcpu, const struct vp_site *site, struct kvm_regs *regs)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	struct kvm_sregs sregs;

	if (!kvm->config.host.step || !kvm->config.host.hw || ioctl(v->fd, KVM_GET_SREGS, &sregs))
		return false;
	v->step.cs = sregs.cs.selector;
	for (unsigned i = 0; i < VP_HW_SITES; i++)
		v->step.handlers[i] = handler(site, vcpu, &sregs.idt, vectors[i]);
	v->step.traced = regs->rflags & RFLAGS_TF;
	v->step.masked = !kvm->config.host.block_irq && regs->rflags & RFLAGS_IF;
	if (v->step.masked)
		regs->rflags &= ~RFLAGS_IF;
	if (!set_regs(v, regs))
		return false;
	v->step.on = true;
	if (!vp_kvm_debug_vcpu(kvm, v, 0))
		return true;
	v->step.on = false;
	return false;
}

/* Only the guest alone can execute this instruction: its trap stays out. One in text is already out. */
static void lose(struct vp_kvm *kvm, uint32_t vcpu, struct vp_kvm_trap *t, bool in_text)
{
	uint64_t gva = t->site->gva;

	kvm->vcpus[vcpu].tries = 0;
	t->gone = true;
	vp_kvm_trap_lost(kvm, t);
	if (in_text)
		return;
	vp_kvm_hold_as_vcpu(kvm, vcpu);
	struct vp_kvm_traps *traps = atomic_load(&kvm->traps);
	for (unsigned i = 0; traps && i < VP_HW_SITES; i++)
		if (traps->hw[i] == gva)
			traps->hw[i] = 0;
	struct ot_err *err = vp_kvm_debug_all(kvm, traps);
	ot_err_destroy(err); /* fewer than were in force, so KVM can't refuse */
	vp_kvm_release(kvm);
}

/* Is the trap at @t still the one at which this vCPU exited? It may have been removed, or changed by the
 * guest, while the vCPU waited: the present bytes are then the guest's. */
static bool clear_the_way(struct vp_kvm *kvm, struct vp_kvm_trap *t, bool in_text)
{
	if (!t || (t->kind == VP_TRAP_HW) == in_text)
		return false;
	return !in_text || (t->planted && vp_kvm_trap_out(kvm, t));
}

static struct vp_kvm_trap *trap_at(struct vp_kvm *kvm, uint64_t gva)
{
	struct vp_kvm_traps *traps = atomic_load(&kvm->traps);

	return traps ? vp_kvm_traps_find(traps, gva) : NULL;
}

void vp_kvm_step_begin(struct vp_kvm *kvm, uint32_t vcpu, uint64_t gva, bool in_text)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];

	finish_out(v);
	struct kvm_regs regs = v->run->s.regs.regs;
	regs.rip = gva;
	if (in_text)
		vp_kvm_hold_as_vcpu(kvm, vcpu);
	struct vp_kvm_trap *t = trap_at(kvm, gva);
	v->step = (struct vp_kvm_step){ .gva = gva,
					.holds = in_text,
					.since_ns = in_text ? kvm->held_since_ns : ot_now_ns() };
	bool clear = clear_the_way(kvm, t, in_text);
	if (clear && v->tries < TRIES_MAX && start(kvm, vcpu, t->site, &regs)) {
		atomic_store(&kvm->step_end, ot_now_ns() + STEP_NS);
		atomic_store(&kvm->stepper, in_text ? vcpu + 1 : 0);
		return;
	}
	set_regs(v, &regs);
	if (clear)
		lose(kvm, vcpu, t, in_text);
	if (in_text)
		vp_kvm_release(kvm);
}

/* --- its end ---------------------------------------------------------------------------------- */

/* All vCPUs' time while they are held, else this one's. */
static void charge(struct vp_kvm *kvm, uint32_t vcpu, const struct vp_site *site)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	uint64_t ns = (ot_now_ns() - v->step.since_ns) * (v->step.holds ? kvm->config.nvcpus : 1);

	vp_kvm_count_step(v, site, ns);
	if (site->necbs)
		vp_engine_charge(kvm->engine, vcpu, site, ns);
}

/* The registers are those at the end of the step. @redo: those with which the guest will reach the site
 * again. */
static void end(struct vp_kvm *kvm, uint32_t vcpu, const struct kvm_regs *redo)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	struct vp_kvm_trap *t = trap_at(kvm, v->step.gva);

	v->step.on = false;
	vp_kvm_debug_vcpu(kvm, v, 0); /* the previous state, so KVM can't refuse */
	/* After that: until then KVM takes a trace flag for its own. */
	struct kvm_regs regs;
	uint64_t add = (v->step.masked ? RFLAGS_IF : 0) | (v->step.traced ? RFLAGS_TF : 0);
	if (add && !ioctl(v->fd, KVM_GET_REGS, &regs)) {
		regs.rflags |= add;
		set_regs(v, &regs);
	}
	v->tries = redo ? v->tries + 1 : 0;
	if (redo)
		vp_kvm_redo_expect(kvm->redo, redo);
	if (t)
		charge(kvm, vcpu, t->site);
	if (!v->step.holds)
		return;
	if (t)
		vp_kvm_trap_in(kvm, t);
	atomic_store(&kvm->stepper, 0);
	vp_kvm_release(kvm);
}

/* The frame that an exception or interrupt pushes, above the error code that some have. */
struct frame {
	uint64_t rip, cs, rflags, rsp, ss;
};

/* Was the site interrupted before it executed? Then *ret are the registers with which it will be reached
 * again, without our trace flag. */
static bool interrupted(struct vp_kvm *kvm, uint32_t vcpu, struct kvm_regs *ret)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	const struct vp_kvm_trap *t = trap_at(kvm, v->step.gva);
	struct frame f;

	for (unsigned at = 0; t && at <= 8; at += 8) {
		uint64_t rsp = v->run->s.regs.regs.rsp + at;
		if (!vp_site_load(t->site, vcpu, rsp, &f, sizeof(f)) || f.rip != v->step.gva ||
		    (uint16_t)f.cs != v->step.cs)
			continue;
		if (!v->step.traced)
			f.rflags &= ~RFLAGS_TF;
		if (v->step.masked)
			f.rflags |= RFLAGS_IF;
		v->step.masked = v->step.traced = false; /* a handler's flags follow from its gate */
		vp_site_store(t->site, vcpu, rsp + offsetof(struct frame, rflags), &f.rflags,
			      sizeof(f.rflags));
		*ret = v->run->s.regs.regs;
		ret->rip = f.rip;
		ret->rflags = f.rflags;
		ret->rsp = f.rsp;
		return true;
	}
	return false;
}

/* RIP has moved: the instruction has executed, or a handler was reached. @debug: by an exit that is the
 * step's.
 */
static void went_on(struct vp_kvm *kvm, uint32_t vcpu, bool debug)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	bool traced = v->step.traced;
	struct kvm_regs redo;

	if (interrupted(kvm, vcpu, &redo)) {
		end(kvm, vcpu, &redo);
		return;
	}
	end(kvm, vcpu, NULL);
	if (traced && debug)
		vp_kvm_give_back_db(kvm, v, DR6_BS);
}

bool vp_kvm_step_exit(struct vp_kvm *kvm, uint32_t vcpu, int err)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	struct kvm_regs regs = v->run->s.regs.regs;
	bool debug = !err && v->run->exit_reason == KVM_EXIT_DEBUG && v->run->debug.arch.exception == 1;

	v->step.passed_on = !debug;
	if (regs.rip != v->step.gva) {
		went_on(kvm, vcpu, debug);
	} else if (err || ++v->step.exits >= EXITS_MAX) {
		regs.rflags |= (v->step.masked ? RFLAGS_IF : 0) | (v->step.traced ? RFLAGS_TF : 0);
		end(kvm, vcpu, &regs);
	} /* else a device's exit, or an iteration of a string instruction */
	return debug;
}

void vp_kvm_step_entry(struct vp_kvm *kvm, uint32_t vcpu)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	struct kvm_regs regs;

	if (!v->step.passed_on || ioctl(v->fd, KVM_GET_REGS, &regs) || regs.rip == v->step.gva)
		return;
	v->run->s.regs.regs = regs;
	end(kvm, vcpu, NULL);
}

void vp_kvm_step_leave(struct vp_kvm *kvm, uint32_t vcpu)
{
	if (kvm->vcpus[vcpu].step.on)
		end(kvm, vcpu, NULL);
}

void vp_kvm_step_hurry(struct vp_kvm *kvm)
{
	uint32_t stepper = atomic_load(&kvm->stepper);

	if (stepper && ot_now_ns() > atomic_load(&kvm->step_end))
		kvm->config.kick(kvm->config.arg, stepper - 1);
}
