/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data and aggregations in structured output: members as FreeBSD's dtrace(1) names them. */
#ifndef CONSUMER_OUTPUT_STRUCTURED_H
#define CONSUMER_OUTPUT_STRUCTURED_H

#include "consumer/output/text.h"
#include "consumer/output/tree.h"

/** The next item of the list that is open: {"value": …}, {"sym": …}, {"stack-frames": […]} … */
OT_MUST_CHECK struct ot_err *con_structured_item(struct con_tree *t, struct con_printer *p,
						 const struct con_datum *d);

/** The next item: {"message": …}, the text that con_print_format() makes. */
OT_MUST_CHECK struct ot_err *con_structured_message(struct con_tree *t, struct con_printer *p,
						    const struct dif_format *fmt,
						    const struct con_datum *args, unsigned nargs,
						    const struct con_aggval *vals, unsigned nvals);

/** Column @p column of @p v: its rows in a list "aggregation-data", and "aggregation-name". @p item: an
 * object of the list that is open; else members of the object that is open. */
OT_MUST_CHECK struct ot_err *con_structured_aggregation(struct con_tree *t, struct con_printer *p,
							const struct con_agg_view *v, unsigned column,
							bool item);

/** An item {"message": …} for each row of @p v, by printa()'s format. */
OT_MUST_CHECK struct ot_err *con_structured_rows(struct con_tree *t, struct con_printer *p,
						 const struct con_agg_view *v, const struct dif_format *fmt);

#endif
