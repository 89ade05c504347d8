/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU's KVM_RUN. Exits that are not ours are returned to the VMM. After a hit the vCPU re-enters at once,
 * so KVM completes an instruction before the VMM can save its state.
 *
 * A VMM interrupts a vCPU by setting kvm_run->immediate_exit to 1 in a signal handler on the vCPU's own
 * thread; KVM accepts any value but 0. Our kick changes 0 to OURS, which identifies it afterwards. The VMM's
 * 1 overwrites it, so the VMM never loses a kick.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"
#include "base/guarded.h"
#include "vmm-probe/hook/internal.h"

#define OURS     0x80
#define AGAIN_NS 1000000l /* kicks are repeated: the VMM may clear immediate_exit concurrently */

/* --- kicks ------------------------------------------------------------------------------------------- */

static void on_kick(int sig)
{
	(void)sig; /* its only purpose is that KVM_RUN returns EINTR */
}

/* A signal that the VMM does not handle. SIGRTMAX - 1 is the timer of the host probe. */
struct ot_err *vp_hook_kick_init(void)
{
	/* SA_RESTART: other system calls of the VMM's thread are restarted; KVM_RUN never is. */
	const struct sigaction ours = { .sa_handler = on_kick, .sa_flags = SA_RESTART };
	struct sigaction sa;

	for (int sig = SIGRTMAX - 2; !vp_hook.kick_signal && sig >= SIGRTMIN; sig--)
		if (!sigaction(sig, NULL, &sa) && sa.sa_handler == SIG_DFL && !sigaction(sig, &ours, NULL))
			vp_hook.kick_signal = sig;
	return vp_hook.kick_signal ? NULL : ot_err_new(OT_ERR_BUSY, "the VMM uses all real-time signals");
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

/* Was the exit caused by our kick? Resets immediate_exit then, which only the vCPU's own thread does. */
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

/* The vCPU announces that it enters, then checks the gate; the holder closes the gate, then checks for vCPUs
 * inside. vp_kvm_leave() ends a pending step of the engine's before this thread waits, since others may be
 * held for it. */
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

/* Kick the vCPUs that are inside; those with the engine only if @p traced. False: there were none. */
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

/* No vCPU is held: each re-enters at once. Kicks are repeated until each has passed. */
void vp_hook_await_engine(void)
{
	const struct timespec again = { .tv_nsec = AGAIN_NS / 10 };

	while (kick_inside(false))
		nanosleep(&again, NULL);
}

/* --- KVM_RUN ----------------------------------------------------------------------------------------- */

/* The kernel sends SIGIO in place of a counter's signal when the user's queue of signals is full. A VMM that
 * does not know SIGIO would end. */
static void keep_alive(void)
{
	struct sigaction sa;
	sigset_t set;

	if (sigaction(SIGIO, NULL, &sa) || sa.sa_handler != SIG_DFL)
		return;
	sigemptyset(&set);
	sigaddset(&set, SIGIO);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* The thread's first KVM_RUN: VMMs block signals that they don't use, so ours is unblocked. */
static void first_run(struct vp_hook_vcpu *v)
{
	sigset_t set;

	v->thread = pthread_self();
	sigemptyset(&set);
	sigaddset(&set, vp_hook.kick_signal);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
	ot_guarded_this_thread();
	keep_alive();
	atomic_store(&v->tid, (int)syscall(SYS_gettid));
	atomic_store(&v->seen, 1);
	vp_hook_service_start();
}

/* An emulating KVM sets all members of a debug exit but dr7, which shares its bytes with those that our
 * int3's emulation failure has set. */
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

/* True: run again. */
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
	bool kicked = was_ours(v), there = false;
	if (ot_unlikely(kicked && !kvm && err == EINTR))
		v->out_ns = ot_now_ns();
	if (ot_unlikely(err == EINTR) && kvm && !kicked)
		there = vp_kvm_is_in_room(kvm, v->index);
	bool ours = kvm && vp_kvm_after(kvm, v->index, err);
	if (ours)
		clean_up_after_int3(v->run);
	else if (kvm)
		vp_kvm_leave(kvm, v->index); /* the VMM may keep the thread for any time */
	atomic_store(&v->where, VP_HOOK_OUT);
	*ret_err = err;
	if (ours || (kicked && err == EINTR) || (there && vp_hook_runs_on(v)))
		return true;
	if (ot_unlikely(v->moments))
		vp_hook_ran_on(v);
	return false;
}

int vp_hook_run(struct vp_hook_vcpu *v)
{
	int err;

	if (ot_unlikely(v->thread != pthread_self() || !atomic_load_explicit(&v->seen, memory_order_relaxed)))
		first_run(v);
	do {
		if (ot_unlikely(atomic_load_explicit(&v->state, memory_order_relaxed)))
			vp_hook_new_state(v);
	} while (run_once(v, &err));
	errno = err;
	return err ? -1 : 0;
}
