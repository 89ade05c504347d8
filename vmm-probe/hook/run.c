/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's KVM_RUN. The VMM gets back what is the VMM's; after a hit the vCPU goes straight in again, so KVM
 * always finishes an instruction before the VMM can look at it.
 *
 * kvm_run->immediate_exit is the VMM's way to get a vCPU's attention: its signal handler makes it 1, on the
 * vCPU's own thread, and KVM takes any value but 0. We make 0 into OURS, which says afterwards whose kick it
 * was; the VMM's 1 overwrites it, and then the VMM gets what it asked for.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "vmm-probe/hook/internal.h"

#define OURS     0x80
#define AGAIN_NS 1000000l /* the VMM may wipe immediate_exit just as a kick comes: it is repeated */

/* --- kicks ------------------------------------------------------------------------------------------- */

static void on_kick(int sig)
{
	(void)sig; /* KVM_RUN returns EINTR: that is all it is for */
}

/* A signal that the VMM has no use for. The highest is the host probe's timer. */
struct ot_err *vp_hook_kick_init(void)
{
	/* Restart: whatever else the VMM's thread is waiting in goes on; KVM_RUN never does. */
	const struct sigaction ours = { .sa_handler = on_kick, .sa_flags = SA_RESTART };
	struct sigaction sa;

	for (int sig = SIGRTMAX - 2; !vp_hook.kick_signal && sig >= SIGRTMIN; sig--)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_DFL && !sigaction(sig, &ours, NULL))
			vp_hook.kick_signal = sig;
	return vp_hook.kick_signal ? NULL
				   : ot_err_new(OT_ERR_BUSY, "the VMM uses every real-time signal there is");
}

void vp_hook_kick(struct vp_hook_vcpu *v)
{
	uint8_t none = 0;
	int tid = atomic_load(&v->tid);

	__atomic_compare_exchange_n(&v->run->immediate_exit, &none, OURS, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_RELAXED);
	if (tid && atomic_load(&v->where) != VP_HOOK_OUT)
		syscall(SYS_tgkill, getpid(), tid, vp_hook.kick_signal);
}

/* Only the vCPU's own thread makes it 0. */
static bool was_ours(struct vp_hook_vcpu *v)
{
	uint8_t ours = OURS;

	if (ot_likely(__atomic_load_n(&v->run->immediate_exit, __ATOMIC_RELAXED) != OURS))
		return false;
	return __atomic_compare_exchange_n(&v->run->immediate_exit, &ours, 0, false, __ATOMIC_SEQ_CST,
					   __ATOMIC_RELAXED);
}

/* --- the gate ---------------------------------------------------------------------------------------- */

void vp_hook_gate_init(void)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&vp_hook.gate_changed, &attr);
	pthread_condattr_destroy(&attr);
}

static void wait_for_gate(void)
{
	pthread_mutex_lock(&vp_hook.gate_lock);
	pthread_cond_broadcast(&vp_hook.gate_changed);
	while (atomic_load(&vp_hook.gate))
		pthread_cond_wait(&vp_hook.gate_changed, &vp_hook.gate_lock);
	pthread_mutex_unlock(&vp_hook.gate_lock);
}

/* It says that it goes in, then looks whether it may; who closes the gate says so, then looks who is in. What
 * the engine was in the middle of, with others waiting for it, ends before this one waits. */
static void enter(struct vp_hook_vcpu *v)
{
	for (;;) {
		atomic_store(&v->where, VP_HOOK_IN);
		if (ot_likely(!atomic_load(&vp_hook.gate)))
			return;
		struct vp_kvm *kvm = atomic_load(&vp_hook.engine);
		if (kvm)
			vp_kvm_leave(kvm, v->index);
		atomic_store(&v->where, VP_HOOK_OUT);
		wait_for_gate();
	}
}

/* Kick those that are in; @p traced: also those that have seen the engine. True: there were any. */
static bool kick_inside(bool traced)
{
	bool any = false;

	for (uint32_t i = 0; i < vp_hook.nvcpus; i++) {
		uint32_t where = atomic_load(&vp_hook.vcpus[i]->where);
		if (where == VP_HOOK_OUT || (where == VP_HOOK_TRACED && !traced))
			continue;
		vp_hook_kick(vp_hook.vcpus[i]);
		any = true;
	}
	return any;
}

void vp_hook_close_gate(void)
{
	pthread_mutex_lock(&vp_hook.gate_lock);
	atomic_store(&vp_hook.gate, 1);
	while (kick_inside(true)) {
		const struct timespec t = ot_timespec(ot_now_ns() + AGAIN_NS);
		pthread_cond_timedwait(&vp_hook.gate_changed, &vp_hook.gate_lock, &t);
	}
	pthread_mutex_unlock(&vp_hook.gate_lock);
}

void vp_hook_open_gate(void)
{
	pthread_mutex_lock(&vp_hook.gate_lock);
	atomic_store(&vp_hook.gate, 0);
	pthread_cond_broadcast(&vp_hook.gate_changed);
	pthread_mutex_unlock(&vp_hook.gate_lock);
}

/* Nobody is held: each goes straight in again. A kick that came a moment too soon is repeated. */
void vp_hook_await_engine(void)
{
	const struct timespec again = { .tv_nsec = AGAIN_NS / 10 };

	while (kick_inside(false))
		nanosleep(&again, NULL);
}

/* --- KVM_RUN ----------------------------------------------------------------------------------------- */

/* This thread's first KVM_RUN: VMMs block signals that they do not know of. */
static void first_run(struct vp_hook_vcpu *v)
{
	sigset_t set;

	v->thread = pthread_self();
	sigemptyset(&set);
	sigaddset(&set, vp_hook.kick_signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	atomic_store(&v->tid, (int)syscall(SYS_gettid));
	atomic_store(&v->seen, 1);
	vp_hook_service_start();
}

/* An emulating KVM sets all of a debug exit but dr7, which the VMM then reads as our int3 left it there. */
static void clean_up_after_int3(struct kvm_run *run)
{
	if (ot_unlikely(run->exit_reason == KVM_EXIT_INTERNAL_ERROR))
		memset(&run->emulation_failure, 0, sizeof(run->emulation_failure));
}

static void back_in(struct vp_hook_vcpu *v)
{
	vp_hook_held_since(v->out_ns);
	v->out_ns = 0;
}

/* true: in again. */
static bool run_once(struct vp_hook_vcpu *v, int *ret_err)
{
	enter(v);
	struct vp_kvm *kvm = atomic_load(&vp_hook.engine);
	if (kvm) {
		atomic_store_explicit(&v->where, VP_HOOK_TRACED, memory_order_release);
		vp_kvm_before(kvm, v->index);
	}
	if (ot_unlikely(v->out_ns))
		back_in(v);
	int err = vp_hook_syscall(v->fd, KVM_RUN, NULL) ? errno : 0;
	bool kicked = was_ours(v);
	if (ot_unlikely(kicked && !kvm && err == EINTR))
		v->out_ns = ot_now_ns();
	bool ours = kvm && vp_kvm_after(kvm, v->index, err);
	if (ours)
		clean_up_after_int3(v->run);
	else if (kvm)
		vp_kvm_leave(kvm, v->index); /* the VMM may keep it for as long as it likes */
	atomic_store(&v->where, VP_HOOK_OUT);
	*ret_err = err;
	return ours || (kicked && err == EINTR);
}

int vp_hook_run(struct vp_hook_vcpu *v)
{
	int err;

	if (ot_unlikely(v->thread != pthread_self() || !atomic_load_explicit(&v->seen, memory_order_relaxed)))
		first_run(v);
	if (ot_unlikely(atomic_load_explicit(&v->state, memory_order_relaxed)))
		vp_hook_new_state(v);
	while (run_once(v, &err))
		;
	errno = err;
	return err ? -1 : 0;
}
