/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms over time, in memory: a series for each row of an aggregation, with the count of each bucket in
 * each interval. Memory has a bound, however long a session is: beyond CON_HEATMAP_COLUMNS intervals two
 * become one, and rows beyond CON_HEATMAP_SERIES are one series of each aggregation together. No count is
 * lost by either.
 */
#ifndef CONSUMER_OUTPUT_HEATMAP_SERIES_H
#define CONSUMER_OUTPUT_HEATMAP_SERIES_H

#include "base/buf.h"
#include "base/map.h"
#include "consumer/output/quantize_rows.h"

#define CON_HEATMAP_COLUMNS 4096u
#define CON_HEATMAP_SERIES  200u

/* The count of a bucket in an interval; never 0. */
struct con_heatmap_cell {
	uint32_t column, row;
	int64_t count;
};

struct con_heatmap_series {
	struct ot_buf title; /* UTF-8 */
	enum dif_agg_kind kind;
	uint64_t arg;
	unsigned n;                     /* buckets */
	int64_t *before;                /* their counts at the end of the last interval */
	struct con_heatmap_cell *cells; /* by column, then by row */
	size_t ncells, cap;
};

struct con_heatmap {
	struct ot_map by_key;               /* identity → struct con_heatmap_series */
	uint64_t ends[CON_HEATMAP_COLUMNS]; /* of each column, in ns of ot_now_ns() */
	uint32_t ncolumns;
};

void con_heatmap_init(struct con_heatmap *h);
void con_heatmap_deinit(struct con_heatmap *h);

/** The series of an identity; NULL: there is none. Series are by_key's values, in order of arrival. */
struct con_heatmap_series *con_heatmap_find(const struct con_heatmap *h, const struct ot_buf *identity);

/** Add a series with the buckets of @p rows. The caller fills its title. */
OT_MUST_CHECK struct ot_err *con_heatmap_add(struct con_heatmap *h, const struct ot_buf *identity,
					     const struct con_rows *rows, struct con_heatmap_series **ret);

/** The column that is being filled ends at @p now_ns, and the next one begins. */
OT_MUST_CHECK struct ot_err *con_heatmap_end(struct con_heatmap *h, uint64_t now_ns);

/** Fill the current column, once in each: the series' buckets get @p counts (s->n of them) minus the previous
 * counts; all of @p counts if any is less than before, as after clear(). */
OT_MUST_CHECK struct ot_err *con_heatmap_take(struct con_heatmap *h, struct con_heatmap_series *s,
					      const int64_t *counts);

#endif
