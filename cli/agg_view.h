/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations ready to print: sorted rows, one for each key, with one value for each of the aggregations.
 * One aggregation is a view of one column; several are joined by key.
 */
#ifndef CLI_AGG_VIEW_H
#define CLI_AGG_VIEW_H

#include "cli/aggregate.h"

#define CLI_AGG_COLUMNS 64

struct cli_agg_view {
	struct cli_agg *columns[CLI_AGG_COLUMNS]; /* borrowed */
	unsigned ncolumns;
	struct cli_agg_entry **cells; /* row by row; NULL where an aggregation lacks the row's key */
	size_t nrows;
	uint64_t *zeros; /* the value of a cell that is missing */
	bool rest;       /* at the end of a session: only entries that no printa() has printed */
};

/** The view of @p n aggregations (at most CLI_AGG_COLUMNS), which must not change while it is in use. */
OT_MUST_CHECK struct ot_err *cli_agg_view_init(struct cli_agg_view *v, struct cli_agg *const *columns,
					       unsigned n, const struct cli_agg_order *order);
void cli_agg_view_deinit(struct cli_agg_view *v);

/** Leave out the rows of a view of one column that a printa() has printed. */
void cli_agg_view_keep_rest(struct cli_agg_view *v);

/** An entry that has the row's key. */
struct cli_agg_entry *cli_agg_view_key(const struct cli_agg_view *v, size_t row);

/** The value in a cell; zeros where it is missing. */
struct cli_aggval cli_agg_view_value(const struct cli_agg_view *v, size_t row, unsigned column);

#endif
