/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The agent in the guest, as an engine uses it: guest-agent/agent_abi.h says what lies where and who may
 * write when. Everything that the guest writes is hostile: it is read once, bounded, and never leads
 * anywhere but into the guest's own RAM.
 *
 *   agent.c        owning it, telling it what to turn on, the thread that beats and asks vCPUs to look
 *   agent_drain.c  a vCPU takes records from its ring and fires
 *   agent_clock.c  the guest's time-stamp counter on the host's clock
 */
#ifndef VP_ENGINE_AGENT_H
#define VP_ENGINE_AGENT_H

#include <pthread.h>

#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/internal.h"

#define VP_AGENT_KICK_NS 10000000ull

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
	struct vp_es *sessions[VP_SESSIONS_MAX]; /* that have some */
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
	/* the agent's thread only */
	uint64_t first_tsc, first_ns, first_width; /* from where the rate is measured */
	uint64_t mult;     /* 0: the guest's word is impossible, and not measured yet */
	uint32_t rate_ppb; /* by how much `mult` may be wrong */
	uint32_t restarts; /* of that, since the last mark that agreed */
	bool begun;
	uint32_t seen;  /* header's clock_seq */
	uint64_t marks; /* as last looked */
};

struct vp_agent {
	struct vp_engine *engine;
	const struct ga_header *header; /* in guest RAM, as are control and the rings */
	struct ga_control *control;
	uint64_t token, owner;
	struct vp_batch_agent place;
	uint64_t mem_gen;         /* atomic: of the engine's, when it was looked where all this is */
	uint32_t usable;          /* atomic: the guest's memory is ours to look at and to write to */
	struct vp_agent_map *map; /* published */
	struct vp_agent_ring *rings;
	struct vp_agent_clock clock;
	uint32_t claims[VP_AGENT_CLAIMS]; /* atomic: 0, or the vCPU that has it, plus 1 */
	uint64_t mark_ns, marks;          /* atomic: when the last mark was hit, and how many were */
	uint32_t tsc_khz;
	uint64_t khz_mult;   /* ns for 2^32 ticks, by the guest's word; 0: an impossible one */
	uint64_t hold_until; /* atomic: until then records wait for the first mark */
	uint32_t generation;
	int wake_fd;
	pthread_t thread;
	bool running;
};

/** The thread looks whether there is a new mark. */
void vp_agent_clock_look(struct vp_agent *agent);

/** By how much vp_agent_time() may be off at the last mark, and that mark on both clocks; 0: not known,
 * nothing is set. Any thread. */
uint64_t vp_agent_clock_bound(const struct vp_agent *agent, uint64_t *ret_tsc, uint64_t *ret_ns);

/** Has there been a mark, so that the guest's times are known? Any thread. */
bool vp_agent_clock_known(const struct vp_agent *agent);

/** Nanoseconds for 2^32 ticks of a counter of @p khz; 0: no counter runs like that. Any thread. */
uint64_t vp_agent_mult_of(uint32_t khz);

/** When it was that the guest's counter stood at @p tsc; @p now when that is not known. Any thread. */
uint64_t vp_agent_time(const struct vp_agent *agent, uint64_t tsc, uint64_t now);

#endif
