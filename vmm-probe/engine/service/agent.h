/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Owning the guest's agent: taking it over, telling it what to turn on, following its clock, giving it back.
 * What a vCPU needs of it is in hit/agent.h.
 */
#ifndef VP_ENGINE_SERVICE_AGENT_H
#define VP_ENGINE_SERVICE_AGENT_H

#include <pthread.h>

#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/service/engine_session.h"

/* The rate of the guest's counter, by the marks seen so far. The agent's thread only. */
struct vp_agent_rate {
	uint64_t first_tsc, first_ns, first_width; /* from where the rate is measured */
	uint64_t mult;     /* 0: the guest's word is impossible, and not measured yet */
	uint32_t rate_ppb; /* by how much `mult` may be wrong */
	uint32_t restarts; /* of that, since the last mark that agreed */
	bool begun;
	uint32_t seen;  /* header's clock_seq */
	uint64_t marks; /* as last looked */
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

/** Have the agent turn on what the sessions want, and nothing else; let go of it when that is nothing. Waits
 * a little for the guest to have done so. Service thread, as all below. */
OT_MUST_CHECK struct ot_err *vp_agent_update(struct vp_engine *engine);
void vp_agent_stop(struct vp_engine *engine);

/** Give each kprobe of @p b, not linked in yet, a slot: the one that all others have who want the same.
 * LIMIT: there is none left. */
OT_MUST_CHECK struct ot_err *vp_agent_place_probes(const struct vp_engine *engine,
						   struct vp_enabled_batch *b);

/** @p b, not linked in yet, brings another agent: what the session has of the one before is there now. */
void vp_agent_moved(struct vp_engine_session *es, const struct vp_enabled_batch *b);

/** By how much a time that the agent's clock gives may be off, at the last mark; 0: not known. With it, that
 * mark on the guest's counter and on the host's clock, else unchanged. */
uint64_t vp_agent_bound(const struct vp_engine_session *es, uint64_t *ret_tsc, uint64_t *ret_ns);

/** Has the agent that the session uses been unloaded? */
bool vp_agent_gone(const struct vp_engine_session *es);

/** Have every vCPU take what is in its ring, and wait a little for that. */
void vp_agent_flush(struct vp_engine *engine);

/** What is older than this has been taken from every ring; @p now without an agent. */
uint64_t vp_agent_covered(const struct vp_engine *engine, uint64_t now);

/** Who fires for each slot, as the sessions want it now; NULL: no memory. Owned by the caller (free()). */
struct vp_agent_map *vp_agent_map_make(const struct vp_engine *engine);
/** Is the session in the plan with a probe of the agent's? */
bool vp_agent_listens(const struct vp_engine_session *es);
/** Bring the control block's slots to what @p map wants; NULL: nothing. What stays as it is is not off for a
 * moment. */
void vp_agent_write_wants(struct ga_control *control, const struct vp_agent_map *map);

/** The agent's thread: take the new mark, if there is one. */
void vp_agent_clock_look(struct vp_agent_owner *owner);

/** By how much vp_agent_time() may be off at the last mark, and that mark on both clocks; 0: not known,
 * nothing is set. Any thread. */
uint64_t vp_agent_clock_bound(const struct vp_agent *agent, uint64_t *ret_tsc, uint64_t *ret_ns);

/** Nanoseconds for 2^32 ticks of a counter of @p khz; 0: no counter runs like that. Any thread. */
uint64_t vp_agent_mult_of(uint32_t khz);

#endif
