/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The consumer's aggregations: the engines' deltas, merged by key. Designed for a million keys: one
 * allocation an entry, one access to a hash table a delta.
 */
#ifndef CONSUMER_AGGREGATE_H
#define CONSUMER_AGGREGATE_H

#include "consumer/agg_names.h"
#include "consumer/output/print.h"

/* An aggregating action of an enabled clause. */
struct con_agg_source {
	const struct dif_clause *clause;     /* its actions are the keys */
	const struct dif_agg_layout *layout; /* both borrowed from the session */
	uint32_t epid;
	uint32_t guest;             /* its symbols resolve the keys; CON_GUEST_NAMED */
	struct ot_account *account; /* the party that the kept memory is charged to; NULL: none */
	bool own;     /* the keys have a process's addresses: keys of two guests are never equal */
	bool printed; /* printed by a printa(): the entries that began here are left out at the end */
};

/* One value: its words, then its tuple as the engine made it, but with the layout's shape in front and one
 * address for each symbol (agg_names.h). */
struct con_agg_entry {
	struct con_agg_source *source; /* of the first delta; owned by the aggregations */
	uint64_t normal;
	uint32_t hash;
	uint64_t words[];
};

/* An aggregation variable. */
struct con_agg {
	const char *name; /* "_" for @ */
	enum dif_agg_kind kind;
	uint64_t arg;
	struct con_agg_entry **entries; /* owned; in order of arrival */
	size_t count, cap;
	uint32_t *slots;    /* 1 + index in entries; 0: free */
	size_t nslots;      /* a power of two, at least twice count */
	bool printed_empty; /* as a column of a printa() while it was empty: later sources count as
			       printed */
};

struct con_aggs {
	struct con_agg *vars; /* by id - 1 */
	uint32_t nvars;
	struct ot_map sources;       /* EPID and number of the action → struct con_agg_source */
	struct con_agg_source *last; /* consecutive deltas are mostly of one source */
	struct con_agg_names own_names;
	struct con_agg_names *names; /* own_names, or another's */
	struct ot_arena arena;
};

/** Aggregations of a program (borrowed for the call). */
OT_MUST_CHECK struct ot_err *con_aggs_init(struct con_aggs *aggs, const struct dif_program *prog);
void con_aggs_deinit(struct con_aggs *aggs);

/** Before the first delta: share the numbers of names with @p other, so that keys of both can be compared. @p
 * other outlives @p aggs. */
void con_aggs_share_names(struct con_aggs *aggs, struct con_aggs *other);

/** Merge a delta. @p p names addresses: sym() of two addresses in one function is one key. A new key that
 * its account has no room for is left out, and counted there. */
OT_MUST_CHECK struct ot_err *con_aggs_add(struct con_aggs *aggs, struct con_printer *p,
					  const struct vp_aggregate *delta);

/** By id; NULL when there is none. */
struct con_agg *con_aggs_get(struct con_aggs *aggs, uint32_t id);

static inline uint8_t *con_agg_tuple(struct con_agg_entry *e)
{
	return (uint8_t *)(e->words + e->source->layout->nwords);
}

/** Key number @p i of an entry. */
struct con_datum con_agg_key(struct con_agg_entry *e, uint32_t i);
struct con_aggval con_agg_value(const struct con_agg *agg, const struct con_agg_entry *e);

/** Zero all values, keep the keys (min and max continue from 0, as in dtrace). */
void con_agg_clear(struct con_agg *agg);
/** The same of one entry. */
void con_agg_entry_clear(const struct con_agg *agg, struct con_agg_entry *e);
void con_agg_normalize(struct con_agg *agg, uint64_t normal);
/** Keep the @p n largest values; below 0: the smallest; 0: none. */
OT_MUST_CHECK struct ot_err *con_agg_trunc(struct con_agg *agg, int64_t n);

/** The place of an entry in agg->entries. */
size_t con_agg_index(struct con_agg *agg, struct con_agg_entry *e);
/** Remove the entries whose flag in @p keep, which has one for each of agg->entries, is not set. */
void con_agg_keep(struct con_agg *agg, const bool *keep);

/* --- order (aggregate_sort.c) --------------------------------------------------- */

struct con_agg_order {
	bool by_key;
	bool reversed;
	int64_t keypos;  /* the key that is compared first */
	unsigned column; /* of several aggregations joined by key: the one to compare by first */
};

struct con_agg_order con_agg_order(const struct dif_options *opts);

int con_agg_compare_keys(struct con_agg_entry *a, struct con_agg_entry *b, const struct con_agg_order *order);
/** Compare values of one kind, the smaller one first. */
int con_agg_compare_values(const struct con_aggval *a, const struct con_aggval *b);

/** The entries in order; *ret is the caller's (free()). */
OT_MUST_CHECK struct ot_err *con_agg_sort(const struct con_agg *agg, const struct con_agg_order *order,
					  struct con_agg_entry ***ret);

#endif
