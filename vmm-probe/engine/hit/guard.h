/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hit's load on its ECBs; service/guard.c evaluates the loads. Hit path. */
#ifndef VP_ENGINE_HIT_GUARD_H
#define VP_ENGINE_HIT_GUARD_H

#include "vmm-probe/engine/hit/fire.h"

#define VP_TIMED_FEW 16 /* firings that must have been timed before their mean is used */

/** Times this hit, and chooses the next one to time: in `every` hits on average. Returns the time. */
uint64_t vp_guard_next(struct vp_vcpu *me);
/** Fires @p ecb and adds the time since *clock, which becomes now. */
void vp_guard_timed(struct vp_vcpu_session *v, const struct vp_ecb *ecb, uint64_t *clock);

static inline void vp_load_add(uint64_t *word, uint64_t n)
{
	__atomic_store_n(word, *word + n, __ATOMIC_RELAXED);
}

/** A hit begins: the time, if its firings are to be timed; else 0. */
static inline uint64_t vp_guard_begin(struct vp_vcpu *me)
{
	if (ot_likely(!__atomic_load_n(&me->engine->guarded, __ATOMIC_RELAXED)) || --me->until_timed)
		return 0;
	return vp_guard_next(me);
}

/** A hit on @p ecb, with @p cost_ns spent outside the engine. */
static inline void vp_guard_hit(const struct vp_ecb *ecb, uint32_t vcpu, uint64_t cost_ns)
{
	if (ecb->loads)
		vp_load_add(&ecb->loads[(size_t)vcpu * ecb->load_stride].outside_ns, cost_ns);
}

/** Fire @p ecb. @p clock: the result of vp_guard_begin(). */
static inline void vp_guard_fire(struct vp_vcpu_session *v, const struct vp_ecb *ecb, uint64_t *clock)
{
	if (!ecb->loads) {
		vp_fire_ecb(v, ecb);
		return;
	}
	vp_load_add(&ecb->loads[(size_t)v->vcpu * ecb->load_stride].fired, 1);
	vp_load_add(&v->load.fired, 1);
	if (ot_unlikely(*clock != 0))
		vp_guard_timed(v, ecb, clock);
	else
		vp_fire_ecb(v, ecb);
}

#endif
