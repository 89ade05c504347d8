/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The buckets of any histogram as rows: their number, and each row's count, label and weight. */
#ifndef CONSUMER_OUTPUT_QUANTIZE_ROWS_H
#define CONSUMER_OUTPUT_QUANTIZE_ROWS_H

#include "consumer/output/print.h"

#define CON_QUANTIZE_BUCKETS 127u
#define CON_QUANTIZE_ZERO    63u

struct con_rows {
	const struct con_aggval *val;
	const int64_t *counts;
	unsigned n;
	unsigned empty_first, empty_last; /* what to show when every count is 0 */
};

/** False: not a histogram, or its parameters are none. */
bool con_rows_init(struct con_rows *rows, const struct con_aggval *val);

/** A row's label: "64", "< 10", ">= 100". */
void con_rows_label(const struct con_rows *rows, unsigned row, char *buf, size_t size);

/** The greatest integer that counts in a row; false: there is none, it is the last. */
bool con_rows_upper(const struct con_rows *rows, unsigned row, int64_t *ret);

/** A row's count, divided by normalize()'s divisor. */
int64_t con_rows_divided(const struct con_rows *rows, unsigned row);

/** The rows to show of two histograms of one shape (or of one: @p a is @p b): those that either uses and one
 * more on each side. */
void con_rows_visible(const struct con_rows *a, const struct con_rows *b, unsigned *ret_first,
		      unsigned *ret_last);

/** The sum of count × value by which histograms are sorted, and the count of the bucket for 0. */
long double con_rows_weight(const struct con_rows *rows, int64_t *ret_zero);

#endif
