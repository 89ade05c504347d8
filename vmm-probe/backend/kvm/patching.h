/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest looks at and patches its own text: function tracing compares five bytes with what it expects,
 * kprobes copy instructions and write single bytes back. It must find its own bytes. The operator's process
 * knows the functions with which it does so; their sites are sentinels. From a task's ENTER to its LEAVE all
 * other traps are out of the guest: a window. Tasks may overlap and sleep in there; each is known by where
 * its return address lies, which no other task shares, so that a LEAVE finds its ENTER on whatever vCPU. What
 * stands there stays until the function returns; when it has changed and there was no LEAVE, the task has
 * died in there (an oops), and the sweep forgets it.
 *
 * Everything but vp_kvm_at_sentinel() and vp_kvm_patching_read(): the vCPUs are held.
 */
#ifndef VP_KVM_PATCHING_H
#define VP_KVM_PATCHING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/engine/engine.h"

#define VP_KVM_PATCHERS \
	64u /* tasks that may be at it at once; one more, and traps stay out until all is quiet */

struct vp_kvm;
struct vp_kvm_traps;

struct vp_kvm_patching {
	_Atomic uint64_t keys[VP_KVM_PATCHERS];    /* guest addresses of return addresses; 0: free */
	_Atomic uint64_t returns[VP_KVM_PATCHERS]; /* what stands there; 0: not known */
	uint32_t nkeys;
	bool settling;               /* the sentinels are in, the other traps wait */
	bool overflow;               /* somebody is at it who is not among them */
	_Atomic uint64_t open_since; /* CLOCK_MONOTONIC in ns; 0: no window, traps are in */
	_Atomic uint64_t windows, out_ns, lost;
	uint32_t swept;              /* where the next sweep begins */
	_Atomic uint32_t hits;       /* of sentinels */
	uint32_t settle_hits, spans; /* hits when the span at hand began; spans that were quiet */
};

/** A vCPU was at a sentinel, and has done the instruction there; on its thread, within vp_kvm_after(). @p
 * slot is where the return address lies. Waits for its turn to hold: see vp_kvm_hold_as_vcpu(). */
void vp_kvm_at_sentinel(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t slot);

/**
 * The first sentinels: a task that is in such a function already has passed its ENTER. So these go in alone,
 * and the other traps when every vCPU has run on since (or is idle, or the guest is paused), twice, while no
 * sentinel was hit and none of the locks was held that are taken there. begin(): before the exchange;
 * settle(): on the service thread, nothing held. BUSY: after three seconds it was not so yet; nothing but
 * sentinels is in.
 */
void vp_kvm_settle_begin(struct vp_kvm *kvm);
OT_MUST_CHECK struct ot_err *vp_kvm_settle(struct vp_kvm *kvm);

/** Has every vCPU run for a millisecond of CPU time since the span began, or nothing to run? */
bool vp_kvm_settle_all_ran(const struct vp_kvm *kvm);

/** One look at whether that is so; when it is, the other traps go in, and settling is over. False: a vCPU has
 * not run. */
bool vp_kvm_settle_check(struct vp_kvm *kvm);

/** No task is known to be patching, and none of the locks is held. */
bool vp_kvm_patching_is_quiet(const struct vp_kvm *kvm);

/** Every task that came before the sentinels has left: the other traps go in, and settling is over. */
void vp_kvm_patching_settled(struct vp_kvm *kvm);

/** No plan any more: nobody is waited for. */
void vp_kvm_patching_reset(struct vp_kvm *kvm);

static inline bool vp_kvm_window(const struct vp_kvm_patching *p)
{
	return atomic_load_explicit(&p->open_since, memory_order_relaxed) != 0;
}

/** The service thread's operations. */
void vp_kvm_sweep(void *backend);
void vp_kvm_patching_read(void *backend, struct vp_patching *ret);

#endif
