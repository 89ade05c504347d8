/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms: quantize, lquantize and llquantize in full, packed into a line, and agghist's bars. */
#ifndef CONSUMER_OUTPUT_PRINT_QUANTIZE_H
#define CONSUMER_OUTPUT_PRINT_QUANTIZE_H

#include "consumer/output/print.h"

/* The common scale of the bars of one aggregation's entries. */
struct con_scale {
	long double total; /* the value of a full bar */
	bool positives, negatives;
	unsigned min_bucket, max_bucket; /* quantize: range in use */
};

/** A histogram in full: a newline, the heading, a line for each bucket. */
void con_print_histogram(struct con_printer *p, const struct con_aggval *val);

/** Take one value into a scale (agghist: numbers, aggpack: buckets). @p scale starts as zeros with
 * min_bucket UINT_MAX. */
void con_scale_add(const struct con_printer *p, struct con_scale *scale, const struct con_aggval *val);

/** The heading of agghist or aggpack for keys @p width columns wide. */
void con_print_bar_heading(struct con_printer *p, int width);
void con_print_packed_heading(struct con_printer *p, int width, enum dif_agg_kind kind,
			      const struct con_scale *scale);

/** A count or sum as a bar with its number, and the newline. */
void con_print_bar(struct con_printer *p, const struct con_aggval *val, const struct con_scale *scale);

/** A quantize or lquantize in one line, and the newline. */
void con_print_packed(struct con_printer *p, const struct con_aggval *val, const struct con_scale *scale);

#endif
