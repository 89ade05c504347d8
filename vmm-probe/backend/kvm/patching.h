/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest reads and patches its own text: function tracing compares five bytes with those that it expects,
 * kprobes copy instructions and write single bytes back. It must find its own bytes. The operator's process
 * knows the functions that do this; their sites are sentinels. From a task's ENTER to its LEAVE all other
 * traps are removed from the guest: a window. Windows may overlap and tasks may sleep in one; each task is
 * identified by the address of its return address, which no other task shares, so that a LEAVE finds its
 * ENTER on any vCPU. The return address itself stays until the function returns; if it has changed without a
 * LEAVE, the task has died in the function (an oops), and the sweep drops it.
 *
 * For everything but vp_kvm_at_sentinel() and vp_kvm_patching_read() the vCPUs are held.
 */
#ifndef VP_KVM_PATCHING_H
#define VP_KVM_PATCHING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/engine/engine.h"

#define VP_KVM_PATCHERS 64u /* tasks that may patch at once; one more, and traps stay out until none does */

struct vp_kvm;
struct vp_kvm_traps;

struct vp_kvm_patching {
	_Atomic uint64_t keys[VP_KVM_PATCHERS];    /* guest addresses of return addresses; 0: free */
	_Atomic uint64_t returns[VP_KVM_PATCHERS]; /* the return addresses; 0: not known */
	uint32_t nkeys;
	bool settling;               /* the sentinels are planted, the other traps are pending */
	bool overflow;               /* a task is patching that is not among them */
	_Atomic uint64_t open_since; /* CLOCK_MONOTONIC in ns; 0: no window, traps are in */
	_Atomic uint64_t windows, out_ns, lost;
	uint32_t swept;              /* start of the next sweep */
	_Atomic uint32_t hits;       /* of sentinels */
	uint32_t settle_hits, spans; /* hits when the current span began; spans that were quiet */
};

/** A vCPU was at a sentinel, and has executed the instruction there; on its thread, within vp_kvm_after(). @p
 * slot is the address of the return address; at a KEY_ENTER, its function's first parameter (keys.h). Waits
 * for its turn to hold: see vp_kvm_hold_as_vcpu(). */
void vp_kvm_at_sentinel(struct vp_kvm *kvm, uint32_t vcpu, enum vp_sentinel kind, uint64_t slot);

/**
 * Planting the first sentinels: a task that is already in such a function has passed its ENTER. So the
 * sentinels are planted alone, and the other traps once every vCPU has run since (or is idle, or the guest is
 * paused), twice, without a sentinel hit and with none of those functions' locks held. begin(): before the
 * exchange; settle(): on the service thread, nothing held. BUSY: not within three seconds; only sentinels are
 * planted.
 */
void vp_kvm_settle_begin(struct vp_kvm *kvm);
OT_MUST_CHECK struct ot_err *vp_kvm_settle(struct vp_kvm *kvm);

/** Has every vCPU run for a millisecond of CPU time since the span began, or nothing to run? */
bool vp_kvm_settle_all_ran(const struct vp_kvm *kvm);

/** Check that condition once; if it is met, plant the other traps and end settling. False: a vCPU has not
 * run. */
bool vp_kvm_settle_check(struct vp_kvm *kvm);

/** No task is known to be patching, and none of the locks is held. */
bool vp_kvm_patching_is_quiet(const struct vp_kvm *kvm);

/** Every task that entered before the sentinels has left: plant the other traps and end settling. */
void vp_kvm_patching_settled(struct vp_kvm *kvm);

/** There is no plan any more: drop all tasks. */
void vp_kvm_patching_reset(struct vp_kvm *kvm);

static inline bool vp_kvm_window(const struct vp_kvm_patching *p)
{
	return atomic_load_explicit(&p->open_since, memory_order_relaxed) != 0;
}

/** The service thread's operations. */
void vp_kvm_sweep(void *backend);
void vp_kvm_patching_read(void *backend, struct vp_patching *ret);

#endif
