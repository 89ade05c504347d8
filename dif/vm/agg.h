/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations. Update and merge of one value's data words, and the table that an engine
 * fills: an open hash over tuples in one half of a vCPU's aggregation buffer. The consumer
 * takes a whole half (it holds deltas since the last switch), walks it and merges.
 */
#ifndef DIF_VM_AGG_H
#define DIF_VM_AGG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dif/obj/layout.h"

/* --- data words ------------------------------------------------------------- */

/** Set @p words (dif_agg_words() of them) to the start value. */
void dif_agg_init(enum dif_agg_kind kind, uint64_t arg, uint64_t *words);

/** One aggregated value; @p incr is 1 or the increment argument. */
void dif_agg_update(enum dif_agg_kind kind, uint64_t *words, uint64_t value, uint64_t incr);

/** Merge @p from into @p into (same kind and parameters). */
void dif_agg_merge(enum dif_agg_kind kind, uint64_t *into, const uint64_t *from);

/** Bucket of a quantize (0..126), and the value a bucket stands for. */
unsigned dif_quantize_bucket(int64_t value);
int64_t dif_quantize_bucket_value(unsigned bucket);

/* --- the table in a buffer half ----------------------------------------------- */

struct dif_aggtab {
	uint8_t *mem; /* shared with the consumer; written by one vCPU only */
	size_t size;
	/* private to the writer: nothing below is read from shared memory */
	uint32_t *buckets; /* allocated by dif_aggtab_init(), size / 8 bytes */
	uint32_t nbuckets;
	size_t used;
};

OT_MUST_CHECK struct ot_err *dif_aggtab_init(struct dif_aggtab *tab, void *mem, size_t size);
void dif_aggtab_deinit(struct dif_aggtab *tab);

/** Empty the table (after the consumer took the half). Not on the hit path. */
void dif_aggtab_reset(struct dif_aggtab *tab);

/**
 * The data words of @p tuple (tuple_size bytes, made as layout.h says), initialised when new;
 * NULL when there is no room: the caller counts an aggregation drop. Hit path.
 */
uint64_t *dif_aggtab_lookup(struct dif_aggtab *tab, const struct dif_agg_layout *layout,
			    enum dif_agg_kind kind, uint64_t arg, const void *tuple, uint32_t epid);

/* One entry as the consumer sees it. */
struct dif_aggtab_entry {
	uint32_t epid; /* which ECB made it: gives the layout */
	uint32_t tuple_size;
	const void *tuple;
	const uint64_t *words;
	uint32_t nwords;
};

/** Walk the entries of a half of which @p used bytes were written: *pos starts at 0; false at
 * the end or at the first entry that does not fit. */
bool dif_aggtab_next(const void *mem, size_t used, size_t *pos, struct dif_aggtab_entry *ret);

#endif
