/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the shared table of dynamic variables, and a process's handle.
 *
 *   ┌────────┬─────────────────┬───────────────────┬────────────────────────────────────────┐
 *   │ header │ vcpus[nvcpus]   │ buckets[nbuckets] │ cells[ncells]: head, key …, value …    │
 *   └────────┴─────────────────┴───────────────────┴────────────────────────────────────────┘
 *
 * A link is (cell number + 1) << 1, or 0 at the end of a chain; bit 0 of a cell's own link marks the cell as
 * deleted (M. Michael's lock-free list: a cell is marked, then unlinked; the vCPU that unlinks it disposes of
 * it).
 */
#ifndef DIF_VM_DYNVAR_PRIV_H
#define DIF_VM_DYNVAR_PRIV_H

#include "dif/vm/dynvar.h"

#define DYNVAR_MAGIC 0x4f54445931304cull
#define DYNVAR_VCPUS 4096u
#define DYNVAR_CELLS (1u << 28)
#define DYNVAR_SIZE  65536u /* of a key or value */

struct dynvar_header {
	uint64_t magic;
	uint64_t seed; /* of the hash; the same for all processes */
	uint32_t nvcpus;
	uint32_t nbuckets; /* a power of two */
	uint32_t ncells;
	uint32_t key_size; /* multiples of 8 */
	uint32_t value_size;
	uint32_t rinsing; /* there are rinsing cells; selects the drop to count */
	struct dif_dynvar_drops drops;
};

struct dynvar_vcpu {
	uint32_t seq;   /* odd while in a probe */
	uint32_t dirty; /* list of cells that this vCPU has unlinked: number + 1 */
	uint64_t clean; /* list of free cells: tag << 32 | number + 1 */
	uint8_t pad[48];
};
_Static_assert(sizeof(struct dynvar_vcpu) == 64, "one cache line each");

struct dynvar_cell {
	uint32_t next;      /* in its chain */
	uint32_t list_next; /* in a clean, dirty or rinsing list: number + 1 */
	uint32_t hash;
	uint32_t key_len;
	uint8_t key[]; /* key_size bytes, then value_size bytes */
};

struct dif_dynvars {
	uint8_t *mem;
	size_t size;
	struct dynvar_header *header; /* after opening, only drops and rinsing are used */
	struct dynvar_vcpu *vcpus;
	uint32_t *buckets;
	uint8_t *cells;
	uint64_t seed;
	uint64_t cells_offset;
	uint32_t nvcpus, nbuckets, ncells;
	uint32_t key_size, value_size, cell_size;
	/* The cleaner's: lists of rinsing cells, and each vCPU's seq when rinsing began. */
	uint32_t *rinse;
	uint32_t *seen;
	bool rinsing;
};

static inline struct dynvar_cell *dynvar_cell(const struct dif_dynvars *dv, uint32_t number)
{
	return (struct dynvar_cell *)(void *)(dv->cells + (uint64_t)number * dv->cell_size);
}

/** Put cells that are linked by list_next, from @p first to @p last, on a vCPU's clean list. False: too many
 * retries, and only the last one's link has changed. */
bool dynvar_push_clean(struct dif_dynvars *dv, struct dynvar_vcpu *v, uint32_t first, uint32_t last);

#endif
