/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic variables: thread-local ones and associative arrays, in one memfd that all engines of a session map
 * (self-> may be set on one vCPU and read on another).
 *
 * A hash table with chains, linked by cell numbers and changed by CAS; each vCPU has a list of free cells,
 * and takes from the others' if it is empty. A freed cell is reused only after every vCPU has left the probe
 * that it was in: the cell's states are dirty, rinsing, clean, advanced by dif_dynvars_clean() at cleanrate.
 * No shared byte is trusted: numbers are bounded, chain walks are limited, sizes are private to each process.
 */
#ifndef DIF_VM_DYNVAR_H
#define DIF_VM_DYNVAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct dif_dynvars; /* one process's handle; the table itself is shared */

/* Drops, in shared memory; all engines count here. */
struct dif_dynvar_drops {
	uint64_t drops;         /* no clean cell, and none rinsing or dirty */
	uint64_t rinsing_drops; /* no clean cell, but rinsing ones */
	uint64_t dirty_drops;   /* no clean cell, but dirty ones */
};

/** Format zeroed shared memory of @p size bytes, for keys of at most @p key_size and values of at most @p
 * value_size bytes. The session does this once. */
OT_MUST_CHECK struct ot_err *dif_dynvars_format(void *mem, size_t size, uint32_t nvcpus, uint32_t key_size,
						uint32_t value_size);

/** Open a formatted table in this process. BAD_DATA: its header is invalid. */
OT_MUST_CHECK struct ot_err *dif_dynvars_open(void *mem, size_t size, struct dif_dynvars **ret);
void dif_dynvars_close(struct dif_dynvars *dv);

enum dif_dynvar_op { DIF_DYNVAR_FIND, DIF_DYNVAR_ALLOC, DIF_DYNVAR_FREE };

/**
 * Find, allocate or free the cell of @p key. Returns the offset of its value in the shared memory (for
 * DIF_SEG_DYNVARS); 0: absent, freed, or no room (a drop is counted). Hit path: no lock; @p vcpu is the
 * caller's.
 */
uint64_t dif_dynvars_cell(struct dif_dynvars *dv, uint32_t vcpu, const void *key, uint32_t key_len,
			  uint32_t value_size, enum dif_dynvar_op op);

/** A vCPU enters or leaves a probe; cells that it may reach are not reused meanwhile. Each is one store,
 * ordered against the cleaner's load, so that the cleaner needs no membarrier. */
void dif_dynvars_enter(struct dif_dynvars *dv, uint32_t vcpu);
void dif_dynvars_leave(struct dif_dynvars *dv, uint32_t vcpu);

/** The process of @p vcpu has ended, perhaps inside a probe: do not wait for it. */
void dif_dynvars_vcpu_gone(struct dif_dynvars *dv, uint32_t vcpu);

/** The cleaner: called by one thread of the session at cleanrate, always with the same handle. Never waits:
 * cells that a vCPU may still reach are left for the next call. */
void dif_dynvars_clean(struct dif_dynvars *dv);

/** Count a drop that the caller has detected (a key that is too long). Hit path. */
void dif_dynvars_count_drop(struct dif_dynvars *dv);

/** Call @p each for each variable: its key, and its value of dif_dynvars_value_size() bytes. While no vCPU is
 * in a probe; not on the hit path. */
void dif_dynvars_each(const struct dif_dynvars *dv,
		      void (*each)(void *arg, const void *key, uint32_t key_len, const void *value),
		      void *arg);

void dif_dynvars_drops(const struct dif_dynvars *dv, struct dif_dynvar_drops *ret);

/** The maximum length of a key. */
uint32_t dif_dynvars_key_size(const struct dif_dynvars *dv);
/** The room of each value, bytes. */
uint32_t dif_dynvars_value_size(const struct dif_dynvars *dv);

/** Is [@p offset, @p offset + @p len) inside the value of one cell? A program may write nowhere else. Hit
 * path. */
bool dif_dynvars_is_value(const struct dif_dynvars *dv, uint64_t offset, uint64_t len);

/* The memory that contains the values, for DIF_SEG_DYNVARS. */
void *dif_dynvars_mem(struct dif_dynvars *dv, size_t *ret_size);

#endif
