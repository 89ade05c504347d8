/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes that fire at a sample: profile-n, and the vm provider's statistics, whose table service/profile.c
 * builds; and those that fire when a counter overflows, by service/cpc.c. */
#ifndef VP_ENGINE_HIT_SAMPLE_H
#define VP_ENGINE_HIT_SAMPLE_H

#include "vmm-probe/engine/hit/hit_session.h"

struct vp_sample_entry {
	struct vp_engine_session *es;
	const struct vp_enabled_probe *probe;
	uint64_t next_ns; /* the timer thread's */
	uint64_t *due;    /* by vCPU: due time of the requested sample; 0: none */
	uint64_t *stats; /* of a vm:::stat probe, by vCPU: its value at the last firing; NULL: another kind of
			    probe */
};

/* A session's probe on a counter: struct vp_cpc. */
struct vp_cpc_probe {
	struct vp_engine_session *es;
	const struct vp_enabled_probe *probe;
};

/* Rebuilt at each change, immutable while in force. */
struct vp_samples {
	uint32_t cost_ns; /* of reaching a sample */
	uint32_t n;
	struct vp_sample_entry *entries;
};

/** The statistic of entry @p e on @p vcpu now. */
static inline uint64_t vp_sample_stat(const struct vp_engine *engine, const struct vp_sample_entry *e,
				      uint32_t vcpu)
{
	return engine->ops->vm->stat(engine->backend, vcpu, e->probe->event & 0xffff);
}

#endif
