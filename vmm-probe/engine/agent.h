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
	uint64_t drained_ns; /* atomic: what is older has been taken */
};

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
	struct vp_ecb *ecbs[];
};

/* One moment on both clocks, and how fast one runs on the other. The last two marks: a vCPU reads at[seq % 2]
 * and again when seq has moved meanwhile, and so never waits for the thread that writes the other. */
struct vp_agent_clock {
	uint32_t seq; /* 0: nothing known yet */
	struct {
		uint64_t tsc, ns;  /* of the mark */
		uint64_t mult;     /* ns for 2^32 ticks */
		uint64_t bound_ns; /* the error is at most this at the mark */
	} at[2];
	/* the agent's thread only */
	uint64_t first_tsc, first_ns;
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
	uint64_t mark_ns, marks; /* atomic: when the last mark was hit, and how many were */
	uint32_t tsc_khz;
	uint32_t generation;
	int wake_fd;
	pthread_t thread;
	bool running;
};

/** The thread looks whether there is a new mark. */
void vp_agent_clock_look(struct vp_agent *agent);

/** By how much vp_agent_time() may be off at the last mark, and that mark on both clocks; 0: not known, nothing
 * is set. Any thread. */
uint64_t vp_agent_clock_bound(const struct vp_agent *agent, uint64_t *ret_tsc, uint64_t *ret_ns);

/** When it was that the guest's counter stood at @p tsc; @p now when that is not known. Any thread. */
uint64_t vp_agent_time(const struct vp_agent *agent, uint64_t tsc, uint64_t now);

#endif
