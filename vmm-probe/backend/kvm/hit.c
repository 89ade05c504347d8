/* SPDX-License-Identifier: GPL-2.0-or-later */
/* After KVM_RUN: handling the exits that are hits of ours. Hit path. */
#include <errno.h>
#include <string.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/backend/kvm/internal.h"

#define RFLAGS_TF       (1ull << 8)
#define RFLAGS_RF       (1ull << 16)
#define DR6_BREAKPOINTS 0xfull
#define DR6_BS          (1ull << 14)

/* The emulator's register file is numbered as instructions number it, KVM's struct is not. */
static void load_env(const struct kvm_regs *r, struct vp_insn_env *env)
{
	const uint64_t all[16] = { r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
				   r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15 };

	memcpy(env->r, all, sizeof(all));
	env->rflags = r->rflags;
}

static void store_env(const struct vp_insn_env *env, struct kvm_regs *r)
{
	*r = (struct kvm_regs){
		.rax = env->r[0],
		.rcx = env->r[1],
		.rdx = env->r[2],
		.rbx = env->r[3],
		.rsp = env->r[4],
		.rbp = env->r[5],
		.rsi = env->r[6],
		.rdi = env->r[7],
		.r8 = env->r[8],
		.r9 = env->r[9],
		.r10 = env->r[10],
		.r11 = env->r[11],
		.r12 = env->r[12],
		.r13 = env->r[13],
		.r14 = env->r[14],
		.r15 = env->r[15],
		.rip = env->rip,
		.rflags = env->rflags,
	};
}

struct access {
	const struct vp_site *site;
	uint32_t vcpu;
};

static bool load(void *arg, uint64_t gva, void *dst, unsigned len)
{
	const struct access *a = arg;

	return vp_site_load(a->site, a->vcpu, gva, dst, len);
}

static bool store(void *arg, uint64_t gva, const void *src, unsigned len)
{
	const struct access *a = arg;

	return vp_site_store(a->site, a->vcpu, gva, src, len);
}

/* The instruction under the trap. Under a debug register the text is the guest's: it may have patched a
 * branch on a static key since. While its own int3 stands there, the previous form is as good: this vCPU
 * might have come a moment earlier. */
static const struct vp_insn *insn_of(const struct vp_kvm_trap *t, struct vp_insn *now)
{
	const struct vp_site *s = t->site;
	uint8_t bytes[sizeof(s->bytes)];

	if (ot_likely(t->kind != VP_TRAP_HW || !s->target))
		return &t->insn;
	return vp_kvm_trap_text(t, bytes) &&
		       vp_native_static_branch(bytes, s->length, (int64_t)(s->target - s->gva)) ==
			   s->length &&
		       vp_insn_decode(bytes, s->length, s->gva, now)
		   ? now
		   : &t->insn;
}

/* Emulate the instruction under the trap. False: its memory can't be accessed from here, or the guest
 * single-steps and is owed a trap after it; nothing has changed. An interrupt shadow (sti, mov ss before the
 * site) may then last for an instruction more: the guest can't tell. */
static bool emulate(struct vp_kvm_vcpu *v, const struct vp_kvm_trap *t, uint32_t vcpu)
{
	struct access access = { t->site, vcpu };
	struct vp_insn now;
	const struct vp_insn *insn = insn_of(t, &now);
	struct vp_insn_env env = { .rip = t->site->gva, .load = load, .store = store, .arg = &access };

	load_env(&v->run->s.regs.regs, &env);
	if (ot_unlikely(env.rflags & RFLAGS_TF))
		return false;
	if (vp_insn_uses_gs(insn))
		env.gs_base = v->run->s.regs.sregs.gs.base;
	if (!vp_insn_run(insn, &env))
		return false;
	env.rflags &= ~RFLAGS_RF;
	store_env(&env, &v->run->s.regs.regs);
	v->run->kvm_dirty_regs |= KVM_SYNC_X86_REGS;
	return true;
}

/* With RIP at the site, on every host. */
static void fire(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu, const struct vp_kvm_trap *t)
{
	uint64_t rip = v->run->s.regs.regs.rip;

	if (ot_unlikely(vp_kvm_redo_is(kvm->redo, &v->run->s.regs.regs, t->site->gva)))
		return;
	v->run->s.regs.regs.rip = t->site->gva;
	vp_kvm_count(v, t->site);
	if (t->site->necbs || t->site->agent)
		vp_engine_hit(kvm->engine, vcpu, t->site, v);
	v->run->s.regs.regs.rip = rip;
}

/* A module that goes is an ENTER too: its memory is freed, so no trap may be in it. */
static void at_sentinel(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t slot,
			uint64_t first)
{
	bool goes = kind == VP_SENTINEL_MODULE_GOES;

	if (kind != VP_SENTINEL_MODULE_COMES)
		vp_kvm_at_sentinel(kvm, vcpu, goes ? VP_SENTINEL_ENTER : kind, slot);
	if (goes || kind == VP_SENTINEL_MODULE_COMES)
		vp_kvm_at_module(kvm, vcpu, kind, first);
}

/* Handle a hit at a trap. Pointers to the trap and its site are invalid after another vCPU may have held, at
 * a sentinel or for a step. */
static void hit(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu, const struct vp_kvm_trap *t)
{
	enum vp_sentinel sentinel = (enum vp_sentinel)t->site->sentinel;
	const struct kvm_regs *regs = &v->run->s.regs.regs;
	uint64_t gva = t->site->gva;
	uint64_t first = regs->rdi; /* the function's parameter, where a sentinel is of that kind */
	uint64_t slot = sentinel == VP_SENTINEL_KEY_ENTER ? first : regs->rsp + t->site->pushed;
	bool in_text = t->kind != VP_TRAP_HW;

	fire(kvm, v, vcpu, t);
	/* The instruction under the trap: the guest continues past a nop by itself, others are emulated here
	 * or stepped. A guest that single-steps is owed a trap after it, which an emulating KVM forgets. */
	bool goes_on = t->kind == VP_TRAP_JUMP || (t->kind == VP_TRAP_OUT && !t->stepped &&
						   t->insn.op == VP_INSN_NOP && !(regs->rflags & RFLAGS_TF));
	bool done = goes_on || (!t->stepped && emulate(v, t, vcpu));
	if (ot_unlikely(sentinel))
		at_sentinel(kvm, vcpu, sentinel, slot, first);
	if (!done)
		vp_kvm_step_begin(kvm, vcpu, gva, in_text);
}

/* The trap that an `out` to @port came from. Hosts leave RIP at it or after it. One in a trampoline may be of
 * an earlier plan: a task may have been interrupted there since then. */
static const struct vp_kvm_trap *find(const struct vp_kvm_traps *traps, uint64_t rip, uint16_t port)
{
	const struct vp_kvm_trap *t = vp_kvm_exits_find(traps, rip);

	if (t)
		return t->kind == VP_TRAP_JUMP ? t : NULL;
	t = vp_kvm_traps_find(traps, rip);

	if (t && t->kind == VP_TRAP_OUT && t->port == port)
		return t;
	for (unsigned len = 2; len <= 15; len++) {
		t = vp_kvm_traps_find(traps, rip - len);
		if (t && t->kind == VP_TRAP_OUT && t->len == len && t->port == port)
			return t;
	}
	return NULL;
}

static bool on_out(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu)
{
	const struct kvm_run *run = v->run;
	struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);

	if (!traps || run->io.direction != KVM_EXIT_IO_OUT || run->io.size != 1 || run->io.count != 1 ||
	    (run->io.port != VP_KVM_PORT_A && run->io.port != VP_KVM_PORT_B))
		return false;
	const struct vp_kvm_trap *t = find(traps, run->s.regs.regs.rip, run->io.port);
	if (!t)
		return false;
	hit(kvm, v, vcpu, t);
	return true;
}

static bool on_int3(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu)
{
	struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);
	const struct vp_kvm_trap *t = traps ? vp_kvm_traps_find(traps, v->run->s.regs.regs.rip) : NULL;

	if (!t || t->kind != VP_TRAP_INT3)
		return vp_kvm_give_back_int3(kvm, vcpu);
	hit(kvm, v, vcpu, t);
	return true;
}

/* A #DB while none of ours steps: a debug register of ours, or the guest's own stepping. */
static bool on_debug(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu)
{
	struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);
	const struct vp_kvm_trap *t = traps ? vp_kvm_traps_find(traps, v->run->s.regs.regs.rip) : NULL;

	if (!traps)
		return false;
	uint64_t dr6 = v->run->debug.arch.dr6;
	/* The trap after the guest's last instruction, reported together with our breakpoint on the next one:
	 * the guest's is delivered first, and ours hits again when its handler returns. */
	bool stepped = dr6 & DR6_BS && v->run->s.regs.regs.rflags & RFLAGS_TF;
	if (!(dr6 & DR6_BREAKPOINTS) || stepped)
		return vp_kvm_give_back_db(kvm, v, dr6 & ~DR6_BREAKPOINTS);
	if (t && t->kind == VP_TRAP_HW) {
		hit(kvm, v, vcpu, t);
		return true;
	}
	return vp_kvm_at_user(kvm, v, vcpu, traps) || vp_kvm_give_back_db(kvm, v, dr6 & ~DR6_BREAKPOINTS);
}

static void take_sample(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu)
{
	if (ot_likely(!atomic_load_explicit(&v->sample, memory_order_relaxed)))
		return;
	atomic_store(&v->sample, 0);
	vp_engine_sample(kvm->engine, vcpu, v);
}

static bool on_exit_of_guest(struct vp_kvm *kvm, struct vp_kvm_vcpu *v, uint32_t vcpu)
{
	const struct kvm_run *run = v->run;

	if (ot_likely(run->exit_reason == KVM_EXIT_IO))
		return on_out(kvm, v, vcpu);
	if (vp_kvm_is_int3(run))
		return on_int3(kvm, v, vcpu);
	if (run->exit_reason == KVM_EXIT_DEBUG && run->debug.arch.exception == 1)
		return on_debug(kvm, v, vcpu);
	return false;
}

bool vp_kvm_after(struct vp_kvm *kvm, uint32_t vcpu, int err)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];
	bool ours = false, events = atomic_load_explicit(&kvm->vm_events, memory_order_relaxed);

	if (ot_unlikely(events))
		vp_kvm_vm_came_out(v);
	if (ot_unlikely(v->step.on))
		ours = vp_kvm_step_exit(kvm, vcpu, err);
	if (!ours && !err && !v->step.on)
		ours = on_exit_of_guest(kvm, v, vcpu);
	bool overflowed = false;
	if (!err || err == EINTR) {
		take_sample(kvm, v, vcpu);
		overflowed = vp_kvm_meters_take(kvm, vcpu);
	}
	if (ot_unlikely(events) && !v->step.on)
		vp_kvm_vm_exit(kvm, vcpu, err, ours);
	/* In a step it stays in: nothing changes until that is over. */
	if (ot_likely(!v->step.on))
		atomic_store(&v->running, 0);
	/* An overflow's signal is no business of the VMM's. */
	return ours || (overflowed && err == EINTR);
}

void vp_kvm_leave(struct vp_kvm *kvm, uint32_t vcpu)
{
	vp_kvm_step_leave(kvm, vcpu);
	atomic_store(&kvm->vcpus[vcpu].running, 0);
}
