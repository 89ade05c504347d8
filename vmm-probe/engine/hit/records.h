/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of resident probes (docs/design/017-resident-probes.md): a trampoline has tested its clause's
 * predicate and put what the actions read into its CPU's ring. The vCPU's thread takes the record from there,
 * and the clause fires.
 *
 * The rings are in memory of ours, which stays; but the guest can write all of it. So a record is copied
 * before it is looked at, one ring full is taken at most, and no size or address comes from there.
 *
 *   record_drain.c      taking the records of a vCPU
 *   record_clock.c      the guest's time-stamp counter on the host's clock
 *   service/records.h   the rings, and the thread that has them drained
 */
#ifndef VP_ENGINE_HIT_RECORDS_H
#define VP_ENGINE_HIT_RECORDS_H

#include "guest-agent/agent_abi.h"
#include "vmm-probe/engine/hit/hit_session.h"

/* One moment on both clocks. */
struct vp_record_mark {
	uint64_t tsc, ns;
};

/* A vCPU's. Its own thread's, except for atomic fields. */
struct vp_record_ring {
	_Alignas(64) struct ga_ring *ring;
	uint64_t tail; /* number of the next record */
	uint64_t lost; /* as last read */
	uint64_t last_ns;
	struct vp_record_mark first, last; /* ns 0: none yet */
	uint64_t mult;                     /* ns for 2^32 ticks; 0: not measured yet */
	/* atomic: */
	uint64_t done;       /* the records before this one have fired */
	uint64_t drained_ns; /* … and those of all hits until then */
};

/* The ECB of each slot (ga_record.slot), atomic; NULL: its session is gone. A slot has one ECB as long as
 * trampolines with its number may be executed. */
struct vp_record_slots {
	uint32_t n;
	struct vp_ecb *ecbs[];
};

struct vp_records {
	uint32_t count;                                      /* of a ring: a power of two */
	struct vp_record_ring *rings;                        /* by vCPU */
	struct vp_record_slots *slots;                       /* published */
	struct vp_engine_session *sessions[VP_SESSIONS_MAX]; /* with such ECBs; atomic, NULL: none */
};

/** The trampolines of resident probes keep the number of the next record in the first reserved word. */
static inline uint64_t *vp_record_head(const struct vp_record_ring *r)
{
	return (uint64_t *)&r->ring->reserved[0];
}

/** Fire for the records of this vCPU, which has entered, and is at a hit or (@p visited) out of the guest for
 * another reason: then the clocks are compared too. */
void vp_records_drain(struct vp_engine *engine, uint32_t vcpu, bool visited);

/** Compare the clocks of a vCPU that is outside the guest: on its thread, or while all are. */
void vp_record_mark(const struct vp_engine *engine, uint32_t vcpu, struct vp_record_ring *r);

/** The time of an event at @p tsc that is taken at @p now: not before what has been taken until then, nor
 * after @p now. */
uint64_t vp_record_time(struct vp_record_ring *r, uint64_t tsc, uint64_t now);

#endif
