/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic variables: thread-local ones and associative arrays, in one memfd that all
 * engines of a session map (self-> is set on one vCPU and read on another).
 *
 * A hash table of chains, linked by cell numbers, changed by CAS; a free list per vCPU (an
 * empty one takes from the others); a freed cell is reused only after every vCPU has left the
 * probe it was in (dirty → rinsing → clean, moved on by dif_dynvars_clean(), called at
 * cleanrate). No shared byte is trusted: numbers are bounded, chain walks have a limit, sizes
 * are private to each process.
 */
#ifndef DIF_VM_DYNVAR_H
#define DIF_VM_DYNVAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dif_dynvars; /* one process's handle; the table itself is shared */

/* Drops, in shared memory, counted by all engines. */
struct dif_dynvar_drops {
	uint64_t drops;         /* no free cell at all */
	uint64_t rinsing_drops; /* none free, but cells were rinsing */
	uint64_t dirty_drops;   /* none free, but cells were dirty */
};

/** Format fresh (zeroed) shared memory of @p size bytes: cells hold a key of up to
 * @p key_size and a value of up to @p value_size bytes. Done once, by the session. */
OT_MUST_CHECK struct ot_err *dif_dynvars_format(void *mem, size_t size, uint32_t nvcpus, uint32_t key_size,
						uint32_t value_size);

/** Open a formatted table in this process; BAD_DATA when its header lies. */
OT_MUST_CHECK struct ot_err *dif_dynvars_open(void *mem, size_t size, struct dif_dynvars **ret);
void dif_dynvars_close(struct dif_dynvars *dv);

enum dif_dynvar_op { DIF_DYNVAR_FIND, DIF_DYNVAR_ALLOC, DIF_DYNVAR_FREE };

/**
 * Look up, make or free the cell of @p key. Returns the offset of its value in the shared
 * memory (for DIF_SEG_DYNVARS), or 0: absent, freed, or no room (which counts a drop).
 * On the hit path: no lock; @p vcpu is the caller's.
 */
uint64_t dif_dynvars_cell(struct dif_dynvars *dv, uint32_t vcpu, const void *key, uint32_t key_len,
			  uint32_t value_size, enum dif_dynvar_op op);

/** A vCPU enters or leaves a probe; cells it may see are not reused meanwhile. One store each,
 * ordered against the cleaner's look, so the cleaner needs no membarrier. */
void dif_dynvars_enter(struct dif_dynvars *dv, uint32_t vcpu);
void dif_dynvars_leave(struct dif_dynvars *dv, uint32_t vcpu);

/** The process that ran @p vcpu is gone, maybe inside a probe: don't wait for it any more. */
void dif_dynvars_vcpu_gone(struct dif_dynvars *dv, uint32_t vcpu);

/** The cleaner: one thread of the session, at cleanrate, always with the same handle. Never
 * waits: what still may be seen stays for the next call. */
void dif_dynvars_clean(struct dif_dynvars *dv);

/** Count a drop that the caller found itself (a key that is too long). Hit path. */
void dif_dynvars_count_drop(struct dif_dynvars *dv);

void dif_dynvars_drops(const struct dif_dynvars *dv, struct dif_dynvar_drops *ret);

/** The longest key that a cell holds. */
uint32_t dif_dynvars_key_size(const struct dif_dynvars *dv);

/** Whether [@p offset, @p offset + @p len) lies in the value of one cell: a program may write there
 * and nowhere else. Hit path. */
bool dif_dynvars_is_value(const struct dif_dynvars *dv, uint64_t offset, uint64_t len);

/* Memory that holds the values, for DIF_SEG_DYNVARS. */
void *dif_dynvars_mem(struct dif_dynvars *dv, size_t *ret_size);

#endif
