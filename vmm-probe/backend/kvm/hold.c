/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Keeping the vCPUs out of the guest. A vCPU announces that it enters, then checks whether it may; the holder
 * announces that it holds, then checks which vCPUs are in. Both are sequentially consistent, so one of them
 * sees the other. The holder, the service thread or a vCPU's, is chosen by a compare-and-exchange; a vCPU
 * that loses is out of the guest while it waits.
 */
#include <time.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

#define AGAIN_NS 1000000l /* a kick may arrive between a vCPU's check and its KVM_RUN: it is repeated */

static bool any_running(struct vp_kvm *kvm)
{
	for (uint32_t i = 0; i < kvm->config.nvcpus; i++)
		if (atomic_load(&kvm->vcpus[i].running))
			return true;
	return false;
}

/* With the lock. */
static void wait_a_little(struct vp_kvm *kvm)
{
	const struct timespec t = ot_timespec(ot_now_ns() + AGAIN_NS);

	pthread_cond_timedwait(&kvm->changed, &kvm->lock, &t);
}

/* Become the holder, then make the others exit. A thread that waits here is out of the guest itself. */
void vp_kvm_hold(struct vp_kvm *kvm)
{
	uint32_t nobody = 0;

	pthread_mutex_lock(&kvm->lock);
	while (!atomic_compare_exchange_strong(&kvm->held, &nobody, 1)) {
		nobody = 0;
		wait_a_little(kvm);
		vp_kvm_step_hurry(kvm);
	}
	kvm->held_since_ns = ot_now_ns(); /* some vCPU may be out from now on */
	while (any_running(kvm)) {
		for (uint32_t i = 0; i < kvm->config.nvcpus; i++)
			if (atomic_load(&kvm->vcpus[i].running))
				kvm->config.kick(kvm->config.arg, i);
		wait_a_little(kvm);
	}
	pthread_mutex_unlock(&kvm->lock);
}

void vp_kvm_hold_as_vcpu(struct vp_kvm *kvm, uint32_t vcpu)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];

	/* While it waits it counts as held, and the holder is notified. */
	atomic_store(&v->running, 0);
	pthread_mutex_lock(&kvm->lock);
	pthread_cond_broadcast(&kvm->changed);
	pthread_mutex_unlock(&kvm->lock);
	vp_kvm_hold(kvm);
	/* No other thread checks it until it is released; then it continues in after(). */
	atomic_store(&v->running, 1);
}

void vp_kvm_release(struct vp_kvm *kvm)
{
	pthread_mutex_lock(&kvm->lock);
	atomic_fetch_add(&kvm->held_ns, ot_now_ns() - kvm->held_since_ns);
	atomic_store(&kvm->held, 0);
	pthread_cond_broadcast(&kvm->changed);
	pthread_mutex_unlock(&kvm->lock);
}

uint64_t vp_kvm_held_ns(void *backend)
{
	return atomic_load(&((struct vp_kvm *)backend)->held_ns);
}

/* Rare: guest text is being changed. */
static void wait_released(struct vp_kvm *kvm)
{
	pthread_mutex_lock(&kvm->lock);
	pthread_cond_broadcast(&kvm->changed);
	while (atomic_load(&kvm->held)) {
		wait_a_little(kvm);
		vp_kvm_step_hurry(kvm);
	}
	pthread_mutex_unlock(&kvm->lock);
}

/* Once; no system call. */
static void know_thread(struct vp_kvm_vcpu *v)
{
	clockid_t clock;

	if (!pthread_getcpuclockid(pthread_self(), &clock))
		atomic_store(&v->thread_clock, clock);
}

void vp_kvm_come_in(struct vp_kvm *kvm, uint32_t vcpu)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];

	for (;;) {
		atomic_store(&v->running, 1);
		if (ot_likely(!atomic_load(&kvm->held)))
			return;
		atomic_store(&v->running, 0);
		wait_released(kvm);
	}
}

void vp_kvm_before(struct vp_kvm *kvm, uint32_t vcpu)
{
	struct vp_kvm_vcpu *v = &kvm->vcpus[vcpu];

	if (ot_unlikely(!atomic_load_explicit(&v->thread_clock, memory_order_relaxed)))
		know_thread(v);
	if (ot_unlikely(v->step.on))
		vp_kvm_step_entry(kvm, vcpu);
	/* In a step it is already in, and may be the holder itself. */
	if (ot_likely(!v->step.on))
		vp_kvm_come_in(kvm, vcpu);
	if (ot_unlikely(atomic_load_explicit(&kvm->vm_events, memory_order_relaxed)) && !v->step.on)
		vp_kvm_vm_entry(kvm, vcpu);
	/* Overflows in the VMM, on behalf of the instruction that it emulates; unless that exit's registers
	 * are unknown. */
	if (v->run->kvm_valid_regs & KVM_SYNC_X86_SREGS)
		vp_kvm_meters_take(kvm, vcpu);
	v->run->kvm_valid_regs = atomic_load_explicit(&kvm->valid_regs, memory_order_relaxed);
}
