/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's agent on the hit path. guest-agent/agent_abi.h documents the layout and who may write when. All
 * data of the guest is hostile: it is read once, bounded, and used as an address only within the guest's own
 * RAM.
 *
 *   agent_drain.c   a vCPU takes records from its ring and fires
 *   agent_clock.c   an event's time on the host's clock
 *   service/agent.h owning the agent, and commanding its probes
 */
#ifndef VP_ENGINE_HIT_AGENT_H
#define VP_ENGINE_HIT_AGENT_H

#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/hit/hit_session.h"

/* The ring of a vCPU; its own thread's, except for atomic fields. */
struct vp_agent_ring {
	_Alignas(64) struct ga_ring *ring; /* in guest RAM; NULL: none */
	uint32_t records;                  /* a power of two */
	uint64_t tail;
	uint64_t lost;       /* as last read */
	uint64_t last_ns;    /* time given to the last record */
	uint64_t newest_tsc; /* while the clock is unknown: of the last record */
	uint64_t drained_ns; /* atomic: all older records have been taken */
};

/* When a thread migrates, its events are in two rings: claims keep them from firing at the same time. By a
 * hash of the thread; never blocks. */
#define VP_AGENT_CLAIMS 256 /* a power of two */

/* The firing ECBs of each slot. Rebuilt at each change, immutable while in force. */
struct vp_agent_map {
	struct {
		uint32_t first, n;
		/* the union of its probes' needs */
		uint64_t address;
		uint32_t want;
		uint16_t nargs, flags;
	} slots[GA_SLOTS];
	struct vp_engine_session *sessions[VP_SESSIONS_MAX]; /* with such probes */
	uint32_t nsessions;
	bool variables; /* some session has dynamic variables */
	struct vp_ecb *ecbs[];
};

/* A mark whose host ran something else in the middle of it can be seconds wide. */
#define VP_AGENT_EXACT_NS 5000000u

#define VP_AGENT_MARKS 4 /* a power of two; two are read while a third is written */

/* A point in time on both clocks, and the rate between them. A vCPU reads at[seq % VP_AGENT_MARKS] and the
 * entry before it, and retries if seq has changed meanwhile, so it never waits for the thread that writes. */
struct vp_agent_clock {
	uint32_t seq; /* 0: not known yet */
	struct {
		uint64_t tsc, ns;  /* of the mark */
		uint64_t mult;     /* ns for 2^32 ticks */
		uint64_t bound_ns; /* bound of the error at the mark */
		uint64_t ahead_ns; /* the part of it that was observed: events were this far in the future */
	} at[VP_AGENT_MARKS];
};

struct vp_agent {
	struct vp_engine *engine;
	uint64_t mem_gen;         /* atomic: engine's value when the agent's memory was last checked */
	uint32_t usable;          /* atomic: its memory may be read and written */
	struct vp_agent_map *map; /* published */
	struct vp_agent_ring *rings;
	struct vp_agent_clock clock;
	uint32_t claims[VP_AGENT_CLAIMS]; /* atomic: 0, or the vCPU that holds it, plus 1 */
	uint64_t mark_ns, marks;          /* atomic: time of the last mark's hit, and number of hits */
	uint64_t khz_mult;                /* ns for 2^32 ticks by the guest's tsc_khz; 0: impossible */
	uint64_t hold_until;              /* atomic: until then records wait for a mark that is exact */
};

/** Fire for the records in this vCPU's ring. The vCPU has entered. Unless @p at_once (a probe is about to
 * fire from outside, after these records) records may stay there for the next call: until the clock is known,
 * or while another vCPU fires for the same thread. */
void vp_agent_drain(struct vp_engine *engine, uint32_t vcpu, bool at_once);

/** A hit on the agent's mark: record the time. */
void vp_agent_mark(struct vp_engine *engine);

/** Has a mark been taken, so that the guest's times are known? Any thread. */
bool vp_agent_clock_known(const struct vp_agent *agent);
/** … and are they known to VP_AGENT_EXACT_NS? Any thread. */
bool vp_agent_clock_exact(const struct vp_agent *agent);

/** The host's time when the guest's counter was @p tsc, for an event that is taken at @p now and so was
 * before that; @p unknown if no mark is known. */
uint64_t vp_agent_time(struct vp_agent *agent, uint64_t tsc, uint64_t unknown, uint64_t now);

/** Ticks in ns, @p mult for 2^32 of them. */
static inline uint64_t vp_agent_scale(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> 32);
}

/** The time of @p tsc, where @p at was at @p ns. 0 for a time before the host's clock began: the guest's
 * value is false. */
static inline uint64_t vp_agent_on_line(uint64_t tsc, uint64_t at, uint64_t ns, uint64_t mult)
{
	if ((int64_t)(tsc - at) >= 0)
		return ns + vp_agent_scale(tsc - at, mult);
	return vp_agent_scale(at - tsc, mult) < ns ? ns - vp_agent_scale(at - tsc, mult) : 0;
}

#endif
