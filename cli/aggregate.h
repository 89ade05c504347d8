/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The consumer's aggregations: the engines' deltas, merged by key. Designed for a million keys: one
 * allocation an entry, one access to a hash table a delta.
 */
#ifndef CLI_AGGREGATE_H
#define CLI_AGGREGATE_H

#include "cli/agg_names.h"
#include "cli/output/print.h"

/* An aggregating action of an enabled clause. */
struct cli_agg_source {
	const struct dif_clause *clause;     /* its actions are the keys */
	const struct dif_agg_layout *layout; /* both borrowed from the session */
	uint32_t epid;
	uint32_t guest; /* its symbols resolve the keys; CLI_GUEST_NAMED */
	bool own;       /* the keys have a process's addresses: those of two guests are never one */
	bool printed;   /* by a printa(): the entries that began here are left out at the end */
};

/* One value: its words, then its tuple as the engine made it, but with the layout's shape in front and one
 * address for each symbol (agg_names.h). */
struct cli_agg_entry {
	struct cli_agg_source *source; /* of the first delta; owned by the aggregations */
	uint64_t normal;
	uint32_t hash;
	uint64_t words[];
};

/* An aggregation variable. */
struct cli_agg {
	const char *name; /* "_" for @ */
	enum dif_agg_kind kind;
	uint64_t arg;
	struct cli_agg_entry **entries; /* owned; in order of arrival */
	size_t count, cap;
	uint32_t *slots;    /* 1 + index in entries; 0: free */
	size_t nslots;      /* a power of two, at least twice count */
	bool printed_empty; /* as a column of a printa() while it was empty: later sources count as
			       printed */
};

struct cli_aggs {
	struct cli_agg *vars; /* by id - 1 */
	uint32_t nvars;
	struct ot_map sources;       /* EPID and number of the action → struct cli_agg_source */
	struct cli_agg_source *last; /* consecutive deltas are mostly of one source */
	struct cli_agg_names own_names;
	struct cli_agg_names *names; /* own_names, or another's */
	struct ot_arena arena;
};

/** Aggregations of a program (borrowed for the call). */
OT_MUST_CHECK struct ot_err *cli_aggs_init(struct cli_aggs *aggs, const struct dif_program *prog);
void cli_aggs_deinit(struct cli_aggs *aggs);

/** Before the first delta: what stands for a name in @p aggs is what stands for it in @p other, so that keys
 * of both can be compared. @p other outlives @p aggs. */
void cli_aggs_share_names(struct cli_aggs *aggs, struct cli_aggs *other);

/** Merge a delta. @p p names addresses: sym() of two addresses in one function is one key. */
OT_MUST_CHECK struct ot_err *cli_aggs_add(struct cli_aggs *aggs, struct cli_printer *p,
					  const struct vp_aggregate *delta);

/** By id; NULL when there is none. */
struct cli_agg *cli_aggs_get(struct cli_aggs *aggs, uint32_t id);

static inline uint8_t *cli_agg_tuple(struct cli_agg_entry *e)
{
	return (uint8_t *)(e->words + e->source->layout->nwords);
}

/** Key number @p i of an entry. */
struct cli_datum cli_agg_key(struct cli_agg_entry *e, uint32_t i);
struct cli_aggval cli_agg_value(const struct cli_agg *agg, const struct cli_agg_entry *e);

/** Zero all values, keep the keys (min and max continue from 0, as in dtrace). */
void cli_agg_clear(struct cli_agg *agg);
void cli_agg_normalize(struct cli_agg *agg, uint64_t normal);
/** Keep the @p n largest values; below 0: the smallest; 0: none. */
OT_MUST_CHECK struct ot_err *cli_agg_trunc(struct cli_agg *agg, int64_t n);

/* --- order (aggregate_sort.c) --------------------------------------------------- */

struct cli_agg_order {
	bool by_key;
	bool reversed;
	int64_t keypos;  /* the key that is compared first */
	unsigned column; /* of several aggregations joined by key: the one to compare by first */
};

struct cli_agg_order cli_agg_order(const struct dif_options *opts);

int cli_agg_compare_keys(struct cli_agg_entry *a, struct cli_agg_entry *b, const struct cli_agg_order *order);
/** Compare values of one kind, the smaller one first. */
int cli_agg_compare_values(const struct cli_aggval *a, const struct cli_aggval *b);

/** The entries in order; *ret is the caller's (free()). */
OT_MUST_CHECK struct ot_err *cli_agg_sort(const struct cli_agg *agg, const struct cli_agg_order *order,
					  struct cli_agg_entry ***ret);

#endif
