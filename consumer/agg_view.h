/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations ready to print: sorted rows, one for each key, with one value for each of the aggregations.
 * One aggregation is a view of one column; several are joined by key.
 */
#ifndef CONSUMER_AGG_VIEW_H
#define CONSUMER_AGG_VIEW_H

#include "consumer/aggregate.h"

#define CON_AGG_COLUMNS 64

struct con_agg_view {
	struct con_agg *columns[CON_AGG_COLUMNS]; /* borrowed */
	unsigned ncolumns;
	struct con_agg_entry **cells; /* row by row; NULL where an aggregation lacks the row's key */
	size_t nrows;
	uint64_t *zeros; /* the value of a cell that is missing */
	bool rest;       /* at the end of a session: only entries that no printa() has printed */
};

/** The view of @p n aggregations (at most CON_AGG_COLUMNS), which must not change while it is in use. */
OT_MUST_CHECK struct ot_err *con_agg_view_init(struct con_agg_view *v, struct con_agg *const *columns,
					       unsigned n, const struct con_agg_order *order);
void con_agg_view_deinit(struct con_agg_view *v);

/** Leave out the rows of a view of one column that a printa() has printed. */
void con_agg_view_keep_rest(struct con_agg_view *v);

/** An entry that has the row's key. */
struct con_agg_entry *con_agg_view_key(const struct con_agg_view *v, size_t row);

/** The value in a cell; zeros where it is missing. */
struct con_aggval con_agg_view_value(const struct con_agg_view *v, size_t row, unsigned column);

#endif
