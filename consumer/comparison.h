/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result of `outsight compare` with a program: each aggregation by view, and the limits of comparing
 * them. */
#ifndef CONSUMER_COMPARISON_H
#define CONSUMER_COMPARISON_H

#include "consumer/agg_view.h"
#include "consumer/window.h"

struct con_comparison {
	struct con_aggs *outside, *inside; /* of one program */
	const struct con_window *window;   /* ended */
	bool tables;                       /* false: the user does not want to wait for the aggregations */
};

/* A view of aggregation number i has these two columns. */
enum { CON_VIEW_OUTSIDE, CON_VIEW_INSIDE };

/** Aggregation number @p i (from 0, below c->outside->nvars) of both views, joined by key. */
OT_MUST_CHECK struct ot_err *con_comparison_view(const struct con_comparison *c, uint32_t i,
						 const struct dif_options *opts, struct con_agg_view *ret);

/** A row's inside value minus its outside value. Not for histograms. */
int64_t con_comparison_difference(const struct con_agg_view *v, size_t row);

#endif
