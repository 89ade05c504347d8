/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buckets of any histogram as rows: their number, and each row's count, label and weight. */
#ifndef CLI_OUTPUT_QUANTIZE_ROWS_H
#define CLI_OUTPUT_QUANTIZE_ROWS_H

#include "cli/output/print.h"

#define CLI_QUANTIZE_BUCKETS 127u
#define CLI_QUANTIZE_ZERO    63u

struct cli_rows {
	const struct cli_aggval *val;
	const int64_t *counts;
	unsigned n;
	unsigned empty_first, empty_last; /* what to show when every count is 0 */
};

/** False: not a histogram, or its parameters are none. */
bool cli_rows_init(struct cli_rows *rows, const struct cli_aggval *val);

/** A row's label: "64", "< 10", ">= 100". */
void cli_rows_label(const struct cli_rows *rows, unsigned row, char *buf, size_t size);

/** The greatest integer that counts in a row; false: there is none, it is the last. */
bool cli_rows_upper(const struct cli_rows *rows, unsigned row, int64_t *ret);

/** A row's count, divided by normalize()'s divisor. */
int64_t cli_rows_divided(const struct cli_rows *rows, unsigned row);

/** The rows to show of two histograms of one shape (or of one: @p a is @p b): those that either uses and one
 * more on each side. */
void cli_rows_visible(const struct cli_rows *a, const struct cli_rows *b, unsigned *ret_first,
		      unsigned *ret_last);

/** The sum of count × value by which histograms are sorted, and the count of the bucket for 0. */
long double cli_rows_weight(const struct cli_rows *rows, int64_t *ret_zero);

#endif
