/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hits that occur twice. If a step ends before its instruction has executed (its memory was not mapped: the
 * guest's page fault handler runs; or the VMM wanted the vCPU), the trap is planted again and the guest
 * reaches it again. That second hit is the same call: it must not fire again.
 *
 * It is identified by the registers, all of them: the handler of the fault restores them unchanged. The task
 * may be on another vCPU by then. A guest that never returns (a fault that ends in an error) leaves an
 * expectation, so they last for a second only, and their number is limited.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "vmm-probe/backend/kvm/internal.h"

#define KEPT      64u
#define LASTS_NS  1000000000ull
#define RFLAGS_RF (1ull << 16) /* set in the flags that a fault saves */

struct vp_kvm_redo {
	pthread_mutex_t lock;
	_Atomic uint32_t expected; /* of `hits`; the hit path reads nothing else while it is 0 */
	struct {
		struct kvm_regs regs;
		uint64_t until; /* 0: free */
	} hits[KEPT];
};

struct ot_err *vp_kvm_redo_create(struct vp_kvm_redo **ret)
{
	struct vp_kvm_redo *redo = calloc(1, sizeof(*redo));

	if (!redo)
		return ot_err_nomem();
	pthread_mutex_init(&redo->lock, NULL);
	*ret = redo;
	return NULL;
}

void vp_kvm_redo_destroy(struct vp_kvm_redo *redo)
{
	if (!redo)
		return;
	pthread_mutex_destroy(&redo->lock);
	free(redo);
}

/* A free place, else the oldest one. */
static unsigned place(const struct vp_kvm_redo *redo)
{
	unsigned oldest = 0;

	for (unsigned i = 1; i < KEPT; i++)
		if (redo->hits[i].until < redo->hits[oldest].until)
			oldest = i;
	return oldest;
}

void vp_kvm_redo_expect(struct vp_kvm_redo *redo, const struct kvm_regs *regs)
{
	pthread_mutex_lock(&redo->lock);
	unsigned at = place(redo);
	if (!redo->hits[at].until)
		atomic_fetch_add(&redo->expected, 1);
	redo->hits[at].regs = *regs;
	redo->hits[at].regs.rflags &= ~RFLAGS_RF;
	redo->hits[at].until = ot_now_ns() + LASTS_NS;
	pthread_mutex_unlock(&redo->lock);
}

static bool match(struct vp_kvm_redo *redo, const struct kvm_regs *regs)
{
	uint64_t now = ot_now_ns();
	bool found = false;

	for (unsigned i = 0; i < KEPT; i++) {
		if (!redo->hits[i].until)
			continue;
		bool same = !found && !memcmp(&redo->hits[i].regs, regs, sizeof(*regs));
		if (!same && now <= redo->hits[i].until)
			continue;
		found |= same && now <= redo->hits[i].until;
		redo->hits[i].until = 0;
		atomic_fetch_sub(&redo->expected, 1);
	}
	return found;
}

bool vp_kvm_redo_is(struct vp_kvm_redo *redo, const struct kvm_regs *regs, uint64_t gva)
{
	struct kvm_regs at = *regs;

	if (ot_likely(!atomic_load_explicit(&redo->expected, memory_order_acquire)))
		return false;
	at.rip = gva;
	at.rflags &= ~RFLAGS_RF;
	pthread_mutex_lock(&redo->lock);
	bool found = match(redo, &at);
	pthread_mutex_unlock(&redo->lock);
	return found;
}
