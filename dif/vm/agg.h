/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations: updating and merging the data words of one value, and the table that an engine fills, an open
 * hash of tuples in one half of a vCPU's aggregation buffer. The consumer takes a whole half, which contains
 * the deltas since the last switch, walks it and merges.
 */
#ifndef DIF_VM_AGG_H
#define DIF_VM_AGG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dif/obj/layout.h"

/* --- data words ------------------------------------------------------------- */

/** Set @p words (dif_agg_words() of them) to the initial value. */
void dif_agg_init(enum dif_agg_kind kind, uint64_t arg, uint64_t *words);

/** Aggregate one value; @p incr is 1 or the increment argument. The parameters are taken from @p arg (the
 * program's), not from the words, which are in shared memory. */
void dif_agg_update(enum dif_agg_kind kind, uint64_t arg, uint64_t *words, uint64_t value, uint64_t incr);

/** Merge @p from into @p into (same kind and parameters). @p into is private memory, initialised by
 * dif_agg_init(); @p from has as many words, with any contents. */
void dif_agg_merge(enum dif_agg_kind kind, uint64_t *into, const uint64_t *from);

/** The bucket of a value in quantize() (0..126), and the value of a bucket. */
unsigned dif_quantize_bucket(int64_t value);
int64_t dif_quantize_bucket_value(unsigned bucket);

/** The lowest value of an llquantize() bucket (0 is the underflow bucket, the last is the overflow bucket);
 * false for bucket 0 and after the last. */
bool dif_llquantize_bucket_value(uint64_t arg, uint32_t bucket, uint64_t *ret);

/* --- the table in a buffer half ----------------------------------------------- */

/*
 * In shared memory entries are consecutive, 8-aligned:
 *
 *   0           4                8            12     16
 *   epid u32 | tuple_size u32 | nwords u32 | shape u32 | tuple … pad to 8 | words u64 …
 *
 * The hash table of them is private memory of the writer.
 */
struct dif_aggtab_slot {
	uint32_t hash;
	uint32_t offset; /* of the entry / 8, plus 1; 0: free */
};

#define DIF_AGG_SINGLES 8

/* An entry that was looked up, by a few words that identify its tuple. */
#define DIF_AGG_RECENT      64 /* a power of two */
#define DIF_AGG_RECENT_KEYS 4
struct dif_agg_recent {
	uint64_t owner; /* among whose keys these words are; 0: free */
	uint64_t key[DIF_AGG_RECENT_KEYS];
	uint64_t *words;
};

struct dif_aggtab {
	uint8_t *mem; /* shared with the consumer; written by one vCPU only */
	size_t size;
	/* The members below are private to the writer, not in shared memory. */
	struct dif_aggtab_slot *slots; /* allocated by dif_aggtab_init(), about size / 8 bytes */
	uint32_t nslots;               /* a power of two */
	uint32_t nentries;
	uint64_t seed;
	size_t used; /* bytes of entries in mem */
	/* The writer's cache of words, by numbers of its own. NULL: not looked up since the table was
	 * emptied. */
	uint64_t *single[DIF_AGG_SINGLES];
	/* The same by hash, of keys of its own. */
	struct dif_agg_recent recent[DIF_AGG_RECENT];
};

OT_MUST_CHECK struct ot_err *dif_aggtab_init(struct dif_aggtab *tab, void *mem, size_t size);
void dif_aggtab_deinit(struct dif_aggtab *tab);

/** Empty the table (after the consumer has taken the half). Not on the hit path. */
void dif_aggtab_reset(struct dif_aggtab *tab);

/**
 * The data words of @p tuple (tuple_size bytes, laid out as in layout.h); a new entry is initialised. NULL:
 * no room; the caller counts an aggregation drop. Hit path.
 */
uint64_t *dif_aggtab_lookup(struct dif_aggtab *tab, const struct dif_agg_layout *layout,
			    enum dif_agg_kind kind, uint64_t arg, const void *tuple, uint32_t epid);

/* One entry, for the consumer. */
struct dif_aggtab_entry {
	uint32_t epid; /* of the ECB that created it, which determines the layout */
	uint32_t tuple_size;
	const void *tuple;
	const uint64_t *words;
	uint32_t nwords;
	uint32_t shape; /* of its layout: an ECB may aggregate into one name with keys of different sizes */
};

/** Walk the entries of a half with @p used bytes: *pos starts at 0. False: the end, or an invalid entry. */
bool dif_aggtab_next(const void *mem, size_t used, size_t *pos, struct dif_aggtab_entry *ret);

#endif
