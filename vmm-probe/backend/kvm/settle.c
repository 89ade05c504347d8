/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Settling: planting the first sentinels. A task that is past the ENTER of such a function, but does not hold
 * the lock after it yet, is unknown. Wall time does not ensure that it reaches that lock: on a busy host a
 * vCPU's thread may wait for a CPU. Neither does the vCPU's CPU time alone: it may have been spent waiting
 * for the lock, which another task has just released. So a span is needed in which every vCPU ran, by its
 * thread's CPU time, or was idle, no sentinel was hit, and the locks were free at both ends: a task that
 * waited has taken the lock by then. And a second span: a task that took and released the lock in the first
 * hits its LEAVE by the end of the second, and new spans wait for those queued behind it.
 */
#include <sys/ioctl.h>
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

#define PAUSE_NS 5000000l
#define PAUSES   600u
#define SPANS    2u
#define PROGRESS_NS \
	1000000u /* of CPU time: thousands of instructions, even where KVM emulates them one by one */

/* CPU time of the vCPU's thread; false: there is none yet, or it has ended. */
static bool thread_time(const struct vp_kvm_vcpu *v, uint64_t *ret)
{
	clockid_t clock = atomic_load(&v->thread_clock);
	struct timespec t;

	if (!clock || clock_gettime(clock, &t))
		return false;
	*ret = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	return true;
}

/* Halted, by KVM or in the VMM, or not started. An ioctl on a held vCPU does not block. */
static bool is_idle(const struct vp_kvm_vcpu *v)
{
	struct kvm_mp_state state;

	return v->run->exit_reason == KVM_EXIT_HLT ||
	       (!ioctl(v->fd, KVM_GET_MP_STATE, &state) && state.mp_state != KVM_MP_STATE_RUNNABLE);
}

/* A new span begins. */
static void begin_span(struct vp_kvm *kvm)
{
	for (uint32_t i = 0; i < kvm->config.nvcpus; i++)
		if (!thread_time(&kvm->vcpus[i], &kvm->vcpus[i].settle_from_ns))
			kvm->vcpus[i].settle_from_ns = 0;
	kvm->patching.settle_hits = atomic_load(&kvm->patching.hits);
}

void vp_kvm_settle_begin(struct vp_kvm *kvm)
{
	vp_kvm_patching_reset(kvm);
	kvm->patching.settling = true;
	kvm->patching.spans = 0;
	atomic_store(&kvm->patching.open_since, ot_now_ns());
	begin_span(kvm);
}

bool vp_kvm_settle_all_ran(const struct vp_kvm *kvm)
{
	uint64_t now;

	for (uint32_t i = 0; i < kvm->config.nvcpus; i++) {
		const struct vp_kvm_vcpu *v = &kvm->vcpus[i];
		if (thread_time(v, &now) && now - v->settle_from_ns < PROGRESS_NS && !is_idle(v))
			return false;
	}
	return true;
}

bool vp_kvm_settle_check(struct vp_kvm *kvm)
{
	struct vp_kvm_patching *p = &kvm->patching;
	bool quiet = vp_kvm_patching_is_quiet(kvm) && atomic_load(&p->hits) == p->settle_hits;

	/* The vCPUs of a paused guest don't run at all. */
	if (quiet && !vp_kvm_settle_all_ran(kvm) &&
	    !(kvm->config.paused && kvm->config.paused(kvm->config.arg)))
		return false;
	p->spans = quiet ? p->spans + 1 : 0;
	if (p->spans == SPANS)
		vp_kvm_patching_settled(kvm);
	else
		begin_span(kvm);
	return true;
}

struct ot_err *vp_kvm_settle(struct vp_kvm *kvm)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	bool stands = false;

	for (unsigned i = 0; i < PAUSES && kvm->patching.settling; i++) {
		nanosleep(&pause, NULL);
		vp_kvm_hold(kvm);
		stands = !vp_kvm_settle_check(kvm);
		vp_kvm_release(kvm);
	}
	if (!kvm->patching.settling)
		return NULL;
	return ot_err_new(OT_ERR_BUSY, stands ? "a vCPU of the guest gets no CPU of this host: try again"
					      : "the guest is patching its own text: try again");
}
