/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lquantize's parameters: base s32 in bits 31..0, levels in 47..32, step in 63..48.
 * llquantize's: factor 63..48, low 47..32, high 31..16, steps 15..0. Word 0 of their data is
 * the parameters, so counts begin at word 1.
 */
#include <string.h>

#include "consumer/output/quantize_rows.h"
#include "dif/vm/agg.h"

struct linear {
	int64_t base;
	unsigned levels, step;
};

static struct linear linear_of(uint64_t arg)
{
	return (struct linear){ (int32_t)arg, arg >> 32 & 0xffff, (unsigned)(arg >> 48) };
}

bool con_rows_init(struct con_rows *rows, const struct con_aggval *val)
{
	uint32_t words = dif_agg_words(val->kind, val->arg);

	*rows = (struct con_rows){ .val = val, .counts = (const int64_t *)val->words, .n = words };
	switch (val->kind) {
	case DIF_AGG_quantize:
		rows->empty_first = CON_QUANTIZE_ZERO - 1;
		rows->empty_last = CON_QUANTIZE_ZERO + 1;
		return words == CON_QUANTIZE_BUCKETS;
	case DIF_AGG_lquantize:
		rows->empty_last = 2;
		break;
	case DIF_AGG_llquantize:
		rows->empty_last = 1;
		break;
	default:
		return false;
	}
	rows->counts++;
	rows->n--;
	return words > 3;
}

/* The lower edge of row @row of an llquantize; row 0 has none: that of row 1. */
static int64_t log_edge(uint64_t arg, unsigned row)
{
	uint64_t value = 0;

	return dif_llquantize_bucket_value(arg, row ? row : 1, &value) ? (int64_t)value : INT64_MAX;
}

void con_rows_label(const struct con_rows *rows, unsigned row, char *buf, size_t size)
{
	uint64_t arg = rows->val->arg;
	bool last = row == rows->n - 1;
	struct linear l = linear_of(arg);
	long long edge;

	if (rows->val->kind == DIF_AGG_quantize) {
		snprintf(buf, size, "%lld", (long long)dif_quantize_bucket_value(row));
		return;
	}
	if (rows->val->kind == DIF_AGG_lquantize)
		edge = row ? l.base + (int64_t)(row - 1) * l.step : l.base;
	else
		edge = log_edge(arg, row);
	snprintf(buf, size, "%s%lld", row == 0 ? "< " : last ? ">= " : "", edge);
}

/* quantize: a row below that of 0 holds values at least as far from 0 as its own, a row above it values below
 * the next row's. */
bool con_rows_upper(const struct con_rows *rows, unsigned row, int64_t *ret)
{
	struct linear l = linear_of(rows->val->arg);

	if (row >= rows->n - 1)
		return false;
	if (rows->val->kind == DIF_AGG_quantize)
		*ret = row <= CON_QUANTIZE_ZERO ? dif_quantize_bucket_value(row)
						: dif_quantize_bucket_value(row + 1) - 1;
	else if (rows->val->kind == DIF_AGG_lquantize)
		*ret = l.base + (int64_t)row * l.step - 1;
	else
		*ret = log_edge(rows->val->arg, row + 1) - 1;
	return true;
}

/* The value of a count in @row. The open ends count as one beyond their edge. */
static int64_t row_value(const struct con_rows *rows, unsigned row)
{
	struct linear l = linear_of(rows->val->arg);
	bool last = row == rows->n - 1;

	if (rows->val->kind == DIF_AGG_quantize)
		return dif_quantize_bucket_value(row);
	if (rows->val->kind == DIF_AGG_llquantize)
		return log_edge(rows->val->arg, row) - !row;
	return row ? l.base + (int64_t)(row - 1) * l.step + last : l.base - 1;
}

long double con_rows_weight(const struct con_rows *rows, int64_t *ret_zero)
{
	long double weight = 0;

	*ret_zero = 0;
	for (unsigned i = 0; i < rows->n; i++) {
		if (!rows->counts[i])
			continue;
		int64_t value = row_value(rows, i);
		weight += (long double)rows->counts[i] * (long double)value;
		if (!value)
			*ret_zero = rows->counts[i];
	}
	return weight;
}

int64_t con_rows_divided(const struct con_rows *rows, unsigned row)
{
	uint64_t normal = rows->val->normal;

	if (normal == UINT64_MAX) /* INT64_MIN / -1 would trap */
		return (int64_t) - (uint64_t)rows->counts[row];
	return rows->counts[row] / (int64_t)(normal ? normal : 1);
}

void con_rows_visible(const struct con_rows *a, const struct con_rows *b, unsigned *ret_first,
		      unsigned *ret_last)
{
	unsigned first = 0, last = a->n - 1;

	while (first < a->n && !a->counts[first] && !b->counts[first])
		first++;
	if (first == a->n) {
		*ret_first = a->empty_first;
		*ret_last = a->empty_last;
		return;
	}
	while (!a->counts[last] && !b->counts[last])
		last--;
	*ret_first = first ? first - 1 : 0;
	*ret_last = last + 1 < a->n ? last + 1 : last;
}
