/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent in the guest, as a hit uses it: guest-agent/agent_abi.h says what lies where and who may write
 * when. Everything that the guest writes is hostile: it is read once, bounded, and never leads anywhere but
 * into the guest's own RAM.
 *
 *   agent_drain.c   a vCPU takes records from its ring and fires
 *   agent_clock.c   an event's time on the host's clock
 *   service/agent.h owning the agent, and telling it what to turn on
 */
#ifndef VP_ENGINE_HIT_AGENT_H
#define VP_ENGINE_HIT_AGENT_H

#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/hit/hit_session.h"

/* The ring of a vCPU; its own thread's, but for what is atomic. */
struct vp_agent_ring {
	_Alignas(64) struct ga_ring *ring; /* in guest RAM; NULL: none */
	uint32_t records;                  /* a power of two */
	uint64_t tail;
	uint64_t lost;       /* as last read */
	uint64_t last_ns;    /* time given to the last record */
	uint64_t newest_tsc; /* while the clock is not known: of the last record that was there */
	uint64_t drained_ns; /* atomic: what is older has been taken */
};

/* One thread's events may lie in two rings, when it has moved: claims keep them from firing at one time. By a
 * hash of the thread; nobody ever waits for one. */
#define VP_AGENT_CLAIMS 256 /* a power of two */

/* Who fires for each slot. Made anew at each change, never changed while it is in force. */
struct vp_agent_map {
	struct {
		uint32_t first, n;
		/* what all of its probes together need */
		uint64_t address;
		uint32_t want;
		uint16_t nargs, flags;
	} slots[GA_SLOTS];
	struct vp_engine_session *sessions[VP_SESSIONS_MAX]; /* that have some */
	uint32_t nsessions;
	bool variables; /* some session has dynamic ones */
	struct vp_ecb *ecbs[];
};

#define VP_AGENT_MARKS 4 /* a power of two; two are read while a third is written */

/* One moment on both clocks, and how fast one runs on the other. A vCPU reads at[seq % VP_AGENT_MARKS] and
 * the one before it, and again when seq has moved meanwhile, and so never waits for the thread that writes.
 */
struct vp_agent_clock {
	uint32_t seq; /* 0: nothing known yet */
	struct {
		uint64_t tsc, ns;  /* of the mark */
		uint64_t mult;     /* ns for 2^32 ticks */
		uint64_t bound_ns; /* the error is at most this at the mark */
	} at[VP_AGENT_MARKS];
};

struct vp_agent {
	struct vp_engine *engine;
	uint64_t mem_gen;         /* atomic: of the engine's, when the agent's memory was last checked */
	uint32_t usable;          /* atomic: the guest's memory is ours to look at and to write to */
	struct vp_agent_map *map; /* published */
	struct vp_agent_ring *rings;
	struct vp_agent_clock clock;
	uint32_t claims[VP_AGENT_CLAIMS]; /* atomic: 0, or the vCPU that has it, plus 1 */
	uint64_t mark_ns, marks;          /* atomic: when the last mark was hit, and how many were */
	uint64_t khz_mult;                /* ns for 2^32 ticks, by the guest's word; 0: an impossible one */
	uint64_t hold_until;              /* atomic: until then records wait for the first mark */
};

/** Fire for what is in this vCPU's ring. It has been entered. Unless @p at_once (something is about to fire
 * from outside, and this comes before it) records may stay there for the next time: before the clock is
 * known, or while another vCPU fires for the same thread. */
void vp_agent_drain(struct vp_engine *engine, uint32_t vcpu, bool at_once);

/** The agent takes the time. */
void vp_agent_mark(struct vp_engine *engine);

/** Has there been a mark, so that the guest's times are known? Any thread. */
bool vp_agent_clock_known(const struct vp_agent *agent);

/** When it was that the guest's counter stood at @p tsc; @p now when that is not known. Any thread. */
uint64_t vp_agent_time(const struct vp_agent *agent, uint64_t tsc, uint64_t now);

/** Ticks in ns, @p mult for 2^32 of them. */
static inline uint64_t vp_agent_scale(uint64_t ticks, uint64_t mult)
{
	return (uint64_t)((unsigned __int128)ticks * mult >> 32);
}

/** The time of @p tsc, where @p at was at @p ns. What lies before the guest's boot, or our own, is a guest's
 * lie: 0 is as good. */
static inline uint64_t vp_agent_on_line(uint64_t tsc, uint64_t at, uint64_t ns, uint64_t mult)
{
	if ((int64_t)(tsc - at) >= 0)
		return ns + vp_agent_scale(tsc - at, mult);
	return vp_agent_scale(at - tsc, mult) < ns ? ns - vp_agent_scale(at - tsc, mult) : 0;
}

#endif
