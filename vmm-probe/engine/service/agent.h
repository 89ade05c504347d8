/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owning the guest's agent: taking ownership, commanding its probes, following its clock, releasing it. The
 * part that vCPUs use is in hit/agent.h.
 */
#ifndef VP_ENGINE_SERVICE_AGENT_H
#define VP_ENGINE_SERVICE_AGENT_H

#include <pthread.h>

#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/service/engine_session.h"

/* The rate of the guest's counter, by the marks seen so far. The agent's thread only. */
struct vp_agent_rate {
	uint64_t first_tsc, first_ns, first_width; /* start of the rate's measurement */
	uint64_t mult;     /* 0: the guest's value is impossible, and the rate is not measured yet */
	uint32_t rate_ppb; /* bound of the error of `mult` */
	uint32_t restarts; /* restarts of the measurement since the last consistent mark */
	bool begun;
	uint32_t seen;  /* header's clock_seq */
	uint64_t marks; /* at the last check */
};

struct vp_agent_owner {
	struct vp_agent agent;          /* vp_engine.agent points here */
	const struct ga_header *header; /* in guest RAM, as are control and the rings */
	struct ga_control *control;
	uint64_t token, word; /* of the agent; with our number, as `owner` in the control block */
	struct vp_batch_agent place;
	struct vp_agent_rate rate;
	uint32_t tsc_khz;
	uint32_t generation;
	int wake_fd;
	pthread_t thread;
	bool running;
};

/** Have the agent enable the probes that the sessions request, and no others; release it if they request
 * none. Waits a limited time until the guest has done so. Service thread, as all below. */
OT_MUST_CHECK struct ot_err *vp_agent_update(struct vp_engine *engine);
void vp_agent_stop(struct vp_engine *engine);

/** Give each kprobe of @p b, not linked in yet, a slot: probes with the same wants share one. LIMIT: all
 * slots are in use. */
OT_MUST_CHECK struct ot_err *vp_agent_place_probes(const struct vp_engine *engine,
						   struct vp_enabled_batch *b);

/** @p b, not linked in yet, names another agent: the session's probes on the previous one move to it. */
void vp_agent_moved(struct vp_engine_session *es, const struct vp_enabled_batch *b);

/** Bound of the error of a time by the agent's clock, at the last mark; 0: not known. With it, that mark on
 * the guest's counter and on the host's clock, else unchanged. */
uint64_t vp_agent_bound(const struct vp_engine_session *es, uint64_t *ret_tsc, uint64_t *ret_ns);

/** Has the agent that the session uses been unloaded? */
bool vp_agent_gone(const struct vp_engine_session *es);

/** Have every vCPU drain its ring, and wait a limited time for that. */
void vp_agent_flush(struct vp_engine *engine);

/** All older records have been taken from every ring; @p now without an agent. */
uint64_t vp_agent_covered(const struct vp_engine *engine, uint64_t now);

/** The firing ECBs of each slot, as the sessions request them now; NULL: out of memory. Owned by the caller
 * (free()).
 */
struct vp_agent_map *vp_agent_map_make(const struct vp_engine *engine);
/** Is the session in the plan, with a probe of the agent? */
bool vp_agent_listens(const struct vp_engine_session *es);
/** Update the control block's slots to the wants of @p map; NULL: none. Slots that do not change stay on
 * throughout. */
void vp_agent_write_wants(struct ga_control *control, const struct vp_agent_map *map);

/** The agent's thread: take the new mark, if there is one. */
void vp_agent_clock_poll(struct vp_agent_owner *owner);

/** Bound of the error of vp_agent_time() at the last mark, and that mark on both clocks; 0: not known,
 * nothing is set. Any thread. */
uint64_t vp_agent_clock_bound(const struct vp_agent *agent, uint64_t *ret_tsc, uint64_t *ret_ns);

/** Nanoseconds for 2^32 ticks of a counter of @p khz; 0: no counter has that rate. Any thread. */
uint64_t vp_agent_mult_of(uint32_t khz);

#endif
