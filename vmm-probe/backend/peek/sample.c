/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One vCPU's registers out of the page that it shares with KVM.
 *
 * KVM writes them there at the end of every KVM_RUN that kvm_valid_regs requests it for, in no guaranteed
 * order, while we read. Two of the words are never 0 in a real state: RFLAGS (bit 1) and CR0 (bit 4). They
 * are set to 0 before; when both are set again and two copies are equal, the registers are complete. The VMM
 * does not read this part of the page, nor does KVM: it only reads the parts that kvm_dirty_regs names, which
 * must be 0.
 */
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "vmm-probe/backend/peek/internal.h"

#define COPIES 50
#define GAP_NS 2000

bool vp_peek_arm(struct vp_peek_vcpu *v)
{
	struct kvm_run *run = v->run;

	if (__atomic_load_n(&run->kvm_valid_regs, __ATOMIC_RELAXED) ||
	    __atomic_load_n(&run->kvm_dirty_regs, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&run->s.regs.regs.rflags, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&run->s.regs.sregs.cr0, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&run->kvm_valid_regs, VP_PEEK_SYNC, __ATOMIC_SEQ_CST);
	return true;
}

void vp_peek_disarm(struct vp_peek_vcpu *v)
{
	uint64_t ours = VP_PEEK_SYNC;

	__atomic_compare_exchange_n(&v->run->kvm_valid_regs, &ours, 0, false, __ATOMIC_SEQ_CST,
				    __ATOMIC_RELAXED);
	v->armed_ns = 0;
}

static void copy(const struct kvm_run *run, struct vp_peek_state *ret)
{
	memcpy(&ret->regs, &run->s.regs.regs, sizeof(ret->regs));
	memcpy(&ret->sregs, &run->s.regs.sregs, sizeof(ret->sregs));
	ret->flags = __atomic_load_n(&run->flags, __ATOMIC_RELAXED);
}

static bool same(const struct vp_peek_state *a, const struct vp_peek_state *b)
{
	return !memcmp(&a->regs, &b->regs, sizeof(a->regs)) &&
	       !memcmp(&a->sregs, &b->sregs, sizeof(a->sregs)) && a->flags == b->flags;
}

static bool is_there(const struct kvm_run *run)
{
	return __atomic_load_n(&run->s.regs.regs.rflags, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&run->s.regs.sregs.cr0, __ATOMIC_ACQUIRE);
}

bool vp_peek_take(struct vp_peek_vcpu *v)
{
	static const struct timespec gap = { .tv_nsec = GAP_NS };
	struct vp_peek_state again;

	if (!is_there(v->run))
		return false;
	vp_peek_disarm(v); /* KVM completes a copy that it has begun, and begins no other */
	copy(v->run, &v->state);
	for (unsigned i = 0; i < COPIES; i++) {
		nanosleep(&gap, NULL); /* a system call: the compiler reads the memory again */
		copy(v->run, &again);
		if (same(&again, &v->state))
			return true;
		v->state = again;
	}
	return false; /* another process writes there */
}

void vp_peek_kick(struct vp_peek *peek, const struct vp_peek_vcpu *v, bool all)
{
	if (!vp_peek_alive(peek))
		return; /* its ID may have been reused */
	if (v->tid && !all) {
		syscall(SYS_tgkill, peek->pid, v->tid, peek->kick);
		return;
	}
	for (uint32_t i = 0; i < peek->nthreads; i++)
		syscall(SYS_tgkill, peek->pid, peek->threads[i], peek->kick);
}
