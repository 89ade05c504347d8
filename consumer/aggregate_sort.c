/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which an aggregation's entries are printed: by value and then key, or by key
 * alone; reversed on request. Integer keys compare as unsigned, everything else bytewise.
 */
#include <stdlib.h>
#include <string.h>

#include "consumer/aggregate.h"
#include "consumer/output/quantize_rows.h"

struct con_agg_order con_agg_order(const struct dif_options *opts)
{
	return (struct con_agg_order){ opts->aggsortkey, opts->aggsortrev, opts->aggsortkeypos, 0 };
}

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_i64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_datum(const struct con_datum *a, const struct con_datum *b)
{
	int c;

	if (a->size != b->size)
		return a->size < b->size ? -1 : 1;
	switch (a->size) {
	case 1:
	case 2:
	case 4:
	case 8:
		return compare_u64(con_load(a->data, a->size), con_load(b->data, b->size));
	}
	switch (a->action->kind) {
	case DIF_ACT_usym:
	case DIF_ACT_umod:
	case DIF_ACT_uaddr:
		c = compare_u64(con_load(a->data, 8), con_load(b->data, 8));
		return c ? c : compare_u64(con_load(a->data + 8, 8), con_load(b->data + 8, 8));
	default:
		return memcmp(a->data, b->data, a->size);
	}
}

int con_agg_compare_keys(struct con_agg_entry *a, struct con_agg_entry *b, const struct con_agg_order *order)
{
	uint32_t n = a->source->layout->nkeys;
	uint32_t first = order->keypos > 0 && order->keypos < n ? (uint32_t)order->keypos : 0;

	if (n != b->source->layout->nkeys)
		return n < b->source->layout->nkeys ? -1 : 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t k = (first + i) % n;
		struct con_datum da = con_agg_key(a, k), db = con_agg_key(b, k);
		int c = compare_datum(&da, &db);
		if (c)
			return c;
	}
	return 0;
}

static int compare_histograms(const struct con_aggval *a, const struct con_aggval *b)
{
	struct con_rows ra, rb;
	int64_t za, zb;
	long double wa, wb;

	if (!con_rows_init(&ra, a) || !con_rows_init(&rb, b))
		return 0;
	wa = con_rows_weight(&ra, &za);
	wb = con_rows_weight(&rb, &zb);
	return wa != wb ? (wa < wb ? -1 : 1) : compare_i64(za, zb);
}

/* The number that orders values of any kind but histograms: the measured value, before normalize(). 0 for
 * histograms. */
static int64_t rank(const struct con_aggval *val)
{
	struct con_aggval plain = *val;

	plain.normal = 1;
	return val->kind == DIF_AGG_avg || val->kind == DIF_AGG_stddev || con_aggval_is_histogram(val->kind)
		   ? con_aggval_number(&plain)
		   : (int64_t)val->words[0];
}

int con_agg_compare_values(const struct con_aggval *a, const struct con_aggval *b)
{
	return con_aggval_is_histogram(a->kind) ? compare_histograms(a, b) : compare_i64(rank(a), rank(b));
}

/* Ranked once, so that most comparisons touch no entry. */
struct ranked {
	int64_t rank;
	struct con_agg_entry *entry;
};

struct sort {
	const struct con_agg *agg;
	const struct con_agg_order *order;
	bool by_histogram;
};

static int compare_entries(const void *pa, const void *pb, void *arg)
{
	const struct ranked *a = pa, *b = pb;
	const struct sort *s = arg;
	int c = compare_i64(a->rank, b->rank);

	if (s->by_histogram) {
		struct con_aggval va = con_agg_value(s->agg, a->entry), vb = con_agg_value(s->agg, b->entry);
		c = compare_histograms(&va, &vb);
	}
	if (!c)
		c = con_agg_compare_keys(a->entry, b->entry, s->order);
	return s->order->reversed ? -c : c;
}

struct ot_err *con_agg_sort(const struct con_agg *agg, const struct con_agg_order *order,
			    struct con_agg_entry ***ret)
{
	struct sort s = { agg, order, !order->by_key && con_aggval_is_histogram(agg->kind) };
	struct ranked *ranked = calloc(agg->count + 1, sizeof(*ranked));
	struct con_agg_entry **sorted = malloc((agg->count + 1) * sizeof(*sorted));

	if (!ranked || !sorted) {
		free(ranked);
		free(sorted);
		return ot_err_nomem();
	}
	for (size_t i = 0; i < agg->count; i++) {
		struct con_aggval val = con_agg_value(agg, agg->entries[i]);
		ranked[i] = (struct ranked){ order->by_key ? 0 : rank(&val), agg->entries[i] };
	}
	qsort_r(ranked, agg->count, sizeof(*ranked), compare_entries, &s);
	for (size_t i = 0; i < agg->count; i++)
		sorted[i] = ranked[i].entry;
	free(ranked);
	*ret = sorted;
	return NULL;
}
