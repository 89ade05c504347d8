/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session's memory in the process of its engine. Shared memory is the operator's: its pages exist before an
 * engine maps them. All other memory is allocated in the VMM's process and charged to the VMM's memory
 * cgroup, where too much of it would kill the guest. So both sides compute a bound: the operator's process
 * before it opens a session, the engine when it receives the OPEN.
 */
#ifndef VP_ENGINE_WIRE_PRIVATE_MEMORY_H
#define VP_ENGINE_WIRE_PRIVATE_MEMORY_H

#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/protocol.h"

/* The limit of one session. */
#define VP_PRIVATE_MAX (1ull << 30)

/* A backend's memory for one site, at most. */
#define VP_PRIVATE_SITE 192u

/** Is a probe of this kind (enum vp_probe_kind) one of vp_private_parts.timed? */
static inline bool vp_private_is_timed(uint32_t kind)
{
	return kind == VP_PROBE_PROFILE || kind == VP_PROBE_VM || kind == VP_PROBE_CPC;
}

/* The sizes of a session, besides its OPEN. 0: none of that part. */
struct vp_private_parts {
	uint64_t program;                    /* bytes of its DOF */
	uint64_t site_programs;              /* bytes of its batches' */
	uint32_t tuple_max, key_max, locals; /* bytes of the longest aggregation key, of the longest key of a
					      * dynamic variable, of clause-local variables */
	uint64_t batch;                      /* bytes of its longest ENABLE */
	uint64_t probes, sites, ecbs;        /* in all ENABLEs */
	uint64_t hits;                       /* ECBs at sites */
	uint64_t semaphores;                 /* sites that have one to raise */
	uint64_t timed;                      /* probes that fire by time, an event or a counter: of no site */
	uint64_t epids;                      /* the highest EPID */
	uint64_t frames;                     /* bytes of the index of processes' rules */
	uint64_t mapped;                     /* bytes mapped by the session */
	bool speculates;
};

/** Bytes at most, page tables included. Any thread. */
uint64_t vp_private_memory(const struct vp_msg_open *open, const struct vp_private_parts *parts);

/** Bytes of scratch space of each vCPU: the size of a principal buffer, at most the limit, but at least a few
 * strings. Any thread. */
uint32_t vp_scratch_size(const struct vp_msg_open *open);

/** The smallest scratch size that open->scratch_max can cause. Any thread. */
uint32_t vp_scratch_least(const struct vp_msg_open *open);

#endif
