/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The bound of a session's memory in the VMM's process, from the sizes of its allocations. */
#include "vmm-probe/engine/wire/private_memory.h"

#include "vmm-probe/engine/hit/early.h"
#include "vmm-probe/engine/hit/sample.h"
#include "vmm-probe/engine/hit/vm_event.h"
#include "vmm-probe/engine/service/early.h"
#include "vmm-probe/engine/service/engine_session.h"
#include "vmm-probe/engine/service/semaphores.h"

#define SCRATCH_TOTAL (64ull << 20) /* of all vCPUs of a session */
#define SCRATCH_MAX   (4u << 20)    /* of one vCPU of one session */
#define PAGE          4096ull
#define CHUNK         32ull /* around each allocation */
/* Threads' stacks, the guest's agent, allocators' caches. */
#define BASE          (1ull << 20)
/* More counters than any backend has. */
#define COUNTERS      65536ull
/* guard.c's notes of an ECB, and its suspects. */
#define GUARDED_ECB   64ull
/* Objects that dif_dof_read() makes from DOF, and the steps of their clauses. */
#define PER_DOF_BYTE  8ull
#define SORTED        96ull                             /* plan.c's items */
#define SEMAPHORE     (3 * sizeof(struct vp_semaphore)) /* the list, the next one, copies */
/* Semaphores that hits raise, and their entries in that list. */
#define EARLY                                                                            \
	(sizeof(struct vp_early) + (VP_EARLY_TAKEN_MAX + VP_EARLY_RECORDS) * SEMAPHORE + \
	 VP_EARLY_FILES_MAX * sizeof(uint64_t))
/* A guest's code and words for resident probes, which its sessions share, and an account of the words. */
#define RESIDENT_ROOM      (24ull << 20)
#define RESIDENT_ACCOUNT   (48ull << 20)
#define RESIDENT_SITE      80ull
#define PAGE_TABLES(bytes) ((bytes) / 512 + 2 * PAGE)

uint32_t vp_scratch_least(const struct vp_msg_open *open)
{
	return 4 * open->strsize + 64;
}

/* DTrace's scratch is the rest of the principal buffer, so bufsize bounds it; here it is private memory of
 * that size. */
uint32_t vp_scratch_size(const struct vp_msg_open *open)
{
	uint64_t size = open->bufsize, least = vp_scratch_least(open);
	uint64_t share = SCRATCH_TOTAL / (open->nvcpus + 1u) & ~7ull;

	if (size > SCRATCH_MAX)
		size = SCRATCH_MAX;
	if (size > share)
		size = share;
	if (open->scratch_max && size > open->scratch_max)
		size = open->scratch_max & ~7u;
	return (uint32_t)(size < least ? least : size);
}

/* The index of one half's aggregations, as dif_aggtab_init() makes it. */
static uint64_t index_size(uint64_t aggsize)
{
	uint64_t slots = 16;

	while (slots < aggsize / 64)
		slots *= 2;
	return slots * sizeof(struct dif_aggtab_slot) + CHUNK;
}

static uint64_t of_vcpus(const struct vp_msg_open *o, const struct vp_private_parts *p)
{
	uint64_t vm =
	    4096 + vp_scratch_size(o) + 3 * (o->strsize + CHUNK) + p->key_max + p->locals + 8 * CHUNK;
	uint64_t each = sizeof(struct vp_vcpu_session) + p->tuple_max + vm, indexes = 0, specs = 0;

	if (p->tuple_max && o->aggsize)
		indexes = 2 * index_size(o->aggsize);
	if (p->speculates)
		specs = o->nspec * (sizeof(struct vp_specbuf) + o->specsize + CHUNK);
	return (o->nvcpus + 1u) * each + o->nvcpus * (indexes + specs) + o->nspec * sizeof(uint64_t);
}

/* A plan is built while the previous one is in force. */
static uint64_t of_probes(const struct vp_msg_open *o, const struct vp_private_parts *p)
{
	uint64_t guard = o->maxcost ? (p->ecbs + 2) * (o->nvcpus * sizeof(struct vp_load) + GUARDED_ECB) : 0;
	uint64_t counter = sizeof(struct vp_counter) + 3ull * o->nvcpus * sizeof(uint64_t) + CHUNK;
	uint64_t counters = (p->ecbs < COUNTERS ? p->ecbs : COUNTERS) * counter;
	uint64_t planned = sizeof(struct vp_site) + 2 * sizeof(struct vp_ecb *) + sizeof(uint32_t);

	return p->batch + p->probes * sizeof(struct vp_enabled_probe) +
	       p->sites * sizeof(struct vp_enabled_site) + p->ecbs * sizeof(struct vp_ecb) +
	       2 * p->epids * sizeof(uint32_t) + guard + counters +
	       p->hits * (2 * (planned + VP_PRIVATE_SITE) + SORTED + sizeof(struct vp_patch)) + 64 * CHUNK;
}

static uint64_t of_resident(const struct vp_msg_open *o, const struct vp_private_parts *p)
{
	return o->flags & VP_OPEN_RESIDENT ? RESIDENT_ROOM + RESIDENT_ACCOUNT + 2 * p->hits * RESIDENT_SITE
					   : 0;
}

/* Tables of probes without sites, which are rebuilt while the previous ones are in force. */
static uint64_t of_timed(const struct vp_msg_open *o, const struct vp_private_parts *p)
{
	uint64_t by_vcpu = 2ull * o->nvcpus * sizeof(uint64_t); /* when it is due, and its last value */
	uint64_t entry =
	    sizeof(struct vp_sample_entry) + sizeof(struct vp_vm_entry) + sizeof(struct vp_cpc_probe);

	return 2 * p->timed * (entry + by_vcpu);
}

uint64_t vp_private_memory(const struct vp_msg_open *open, const struct vp_private_parts *parts)
{
	uint64_t bytes = sizeof(struct vp_engine_session) + sizeof(struct vp_engine_session_service) +
			 (parts->program + parts->site_programs) * PER_DOF_BYTE + of_vcpus(open, parts) +
			 of_probes(open, parts) + of_timed(open, parts) + of_resident(open, parts) +
			 parts->semaphores * SEMAPHORE + (parts->semaphores ? EARLY : 0) + parts->frames;

	return BASE + bytes + PAGE_TABLES(bytes) + PAGE_TABLES(parts->mapped);
}
