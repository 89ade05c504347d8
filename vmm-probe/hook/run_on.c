/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A VMM that makes a vCPU leave the guest may be about to save it. The vCPU must then not be in code of
 * resident probes, nor in an interrupt that returns there, as what is saved is loaded into a VM without that
 * code. Such a vCPU runs on, a moment at a time: a trampoline takes nanoseconds, an interrupt microseconds.
 *
 * On the vCPU's own thread.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "vmm-probe/hook/internal.h"

#define MOMENT_NS 200000l
#define MOMENTS   50u /* for a vCPU that is in a long interrupt: 10 ms in all */

/* The timer's signal has no other effect than that KVM_RUN returns, like a kick's. */
static bool start_timer(struct vp_hook_vcpu *v, timer_t *ret)
{
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = vp_hook.kick_signal };
	const struct itimerspec moment = { .it_value.tv_nsec = MOMENT_NS };

	event._sigev_un._tid = atomic_load(&v->tid);
	if (timer_create(CLOCK_MONOTONIC, &event, ret))
		return false;
	if (!timer_settime(*ret, 0, &moment, NULL))
		return true;
	timer_delete(*ret);
	return false;
}

/* The VMM's 1 is taken back for the moment; QEMU resets it itself when KVM_RUN has returned. */
bool vp_hook_runs_on(struct vp_hook_vcpu *v)
{
	if (v->moments == MOMENTS)
		return false;
	if (v->moments)
		timer_delete(v->timer);
	if (!start_timer(v, &v->timer)) {
		v->moments = 0;
		return false;
	}
	v->moments++;
	__atomic_store_n(&v->run->immediate_exit, 0, __ATOMIC_SEQ_CST);
	return true;
}

/* An exit for the VMM: it handles that, and finds its kick when it calls KVM_RUN again. */
void vp_hook_ran_on(struct vp_hook_vcpu *v)
{
	timer_delete(v->timer);
	v->moments = 0;
	__atomic_store_n(&v->run->immediate_exit, 1, __ATOMIC_SEQ_CST);
}
