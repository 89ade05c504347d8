/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms: quantize, lquantize and llquantize in full, packed into a line, and agghist's bars. */
#ifndef CLI_OUTPUT_PRINT_QUANTIZE_H
#define CLI_OUTPUT_PRINT_QUANTIZE_H

#include "cli/output/print.h"

/* What the entries of one aggregation have in common, for bars on one scale. */
struct cli_scale {
	long double total; /* what a full bar stands for */
	bool positives, negatives;
	unsigned min_bucket, max_bucket; /* quantize: range in use */
};

/** A histogram in full: a newline, the heading, a line for each bucket. */
void cli_print_histogram(struct cli_printer *p, const struct cli_aggval *val);

/** Take one value into a scale (agghist: numbers, aggpack: buckets). @p scale starts as zeros with
 * min_bucket UINT_MAX. */
void cli_scale_add(const struct cli_printer *p, struct cli_scale *scale, const struct cli_aggval *val);

/** The heading of agghist or aggpack for keys @p width columns wide. */
void cli_print_bar_heading(struct cli_printer *p, int width);
void cli_print_packed_heading(struct cli_printer *p, int width, enum dif_agg_kind kind,
			      const struct cli_scale *scale);

/** A count or sum as a bar with its number, and the newline. */
void cli_print_bar(struct cli_printer *p, const struct cli_aggval *val, const struct cli_scale *scale);

/** A quantize or lquantize in one line, and the newline. */
void cli_print_packed(struct cli_printer *p, const struct cli_aggval *val, const struct cli_scale *scale);

#endif
