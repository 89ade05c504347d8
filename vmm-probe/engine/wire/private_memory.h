/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a session takes of the memory of the process that its engine is in. The shared memory is the
 * operator's: its pages are there before an engine maps them. All else is allocated in the VMM's process, and
 * charged to the VMM's memory cgroup, where too much of it would kill the guest. So there is a bound that
 * both sides compute: the operator's process before it opens a session, the engine when it is asked to.
 */
#ifndef VP_ENGINE_WIRE_PRIVATE_MEMORY_H
#define VP_ENGINE_WIRE_PRIVATE_MEMORY_H

#include "vmm-probe/engine/wire/protocol.h"

/* No session takes more. */
#define VP_PRIVATE_MAX (1ull << 30)

/* What a backend keeps for a site, at most. */
#define VP_PRIVATE_SITE 192u

/* What a session is made of, besides its OPEN. All 0: nothing of it. */
struct vp_private_parts {
	uint64_t program;                    /* bytes of its DOF */
	uint32_t tuple_max, key_max, locals; /* bytes of the longest aggregation key, of the longest key of a
					      * dynamic variable, of clause-local variables */
	uint64_t batch;                      /* bytes of its longest ENABLE */
	uint64_t probes, sites, ecbs;        /* in all of those */
	uint64_t hits;                       /* ECBs at sites */
	uint64_t epids;                      /* the highest EPID */
	uint64_t mapped;                     /* bytes that it has mapped */
	bool speculates;
};

/** Bytes at most, page tables included. Any thread. */
uint64_t vp_private_memory(const struct vp_msg_open *open, const struct vp_private_parts *parts);

/** Bytes of scratch space of each vCPU: as long as a principal buffer, where that is not too much, but never
 * less than a few strings. Any thread. */
uint32_t vp_scratch_size(const struct vp_msg_open *open);

/** The least of them that open->scratch_max can bring about. Any thread. */
uint32_t vp_scratch_least(const struct vp_msg_open *open);

#endif
