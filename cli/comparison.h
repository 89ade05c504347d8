/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of `outsight compare` with a program: each aggregation by view, and how far the views can be
 * compared. */
#ifndef CLI_COMPARISON_H
#define CLI_COMPARISON_H

#include "cli/agg_view.h"
#include "cli/window.h"

struct cli_comparison {
	struct cli_aggs *outside, *inside; /* of one program */
	const struct cli_window *window;   /* ended */
	bool tables;                       /* false: the user does not want to wait for the aggregations */
};

/* A view of aggregation number i has these two columns. */
enum { CLI_VIEW_OUTSIDE, CLI_VIEW_INSIDE };

/** Aggregation number @p i (from 0, below c->outside->nvars) of both views, joined by key. */
OT_MUST_CHECK struct ot_err *cli_comparison_view(const struct cli_comparison *c, uint32_t i,
						 const struct dif_options *opts, struct cli_agg_view *ret);

/** A row's inside value minus its outside value. Not for histograms. */
int64_t cli_comparison_difference(const struct cli_agg_view *v, size_t row);

#endif
