/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printa(), and the tables at the end of a session. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/aggregate.h"
#include "cli/output/print_quantize.h"

#define KEYS_MAX 64

static uint64_t square_root(unsigned __int128 n)
{
	unsigned __int128 bit = (unsigned __int128)1 << 126, root = 0;

	while (bit > n)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (n >= root + bit) {
			n -= root + bit;
			root = (root >> 1) + bit;
		} else {
			root >>= 1;
		}
	}
	return (uint64_t)root;
}

/* The root of (the average of the squares - the square of the average), all in integers. */
static uint64_t stddev(const uint64_t *words, uint64_t normal)
{
	unsigned __int128 squares = (unsigned __int128)words[3] << 64 | words[2];
	int64_t avg;
	uint64_t magnitude;

	if (!words[0])
		return 0;
	squares = squares / normal / normal / words[0];
	avg = (int64_t)words[1] / (int64_t)normal / (int64_t)words[0];
	magnitude = avg < 0 ? -(uint64_t)avg : (uint64_t)avg;
	return square_root(squares - (unsigned __int128)magnitude * magnitude);
}

int64_t cli_aggval_number(const struct cli_aggval *val)
{
	/* a divisor of 0 or -1 would trap: the one is refused by normalize(), the other is a negation */
	int64_t normal = val->normal ? (int64_t)val->normal : 1;

	switch (val->kind) {
	case DIF_AGG_quantize:
	case DIF_AGG_lquantize:
	case DIF_AGG_llquantize:
		return 0;
	case DIF_AGG_stddev:
		return (int64_t)stddev(val->words, (uint64_t)normal);
	case DIF_AGG_avg:
		if (!val->words[0] || val->words[0] == UINT64_MAX)
			return 0;
		if (normal == -1)
			return (int64_t) - ((uint64_t)((int64_t)val->words[1] / (int64_t)val->words[0]));
		return (int64_t)val->words[1] / normal / (int64_t)val->words[0];
	default:
		if (normal == -1)
			return (int64_t)-val->words[0];
		return (int64_t)val->words[0] / normal;
	}
}

/* How the entries of one aggregation are shown. */
enum style { STYLE_PLAIN, STYLE_HIST, STYLE_PACK };

struct table {
	struct cli_printer *p;
	enum style style;
	struct cli_scale scale;
};

static enum style style_of(const struct cli_printer *p, enum dif_agg_kind kind)
{
	if (p->opts->agghist && (kind == DIF_AGG_count || kind == DIF_AGG_sum))
		return STYLE_HIST;
	if (p->opts->aggpack && (kind == DIF_AGG_quantize || kind == DIF_AGG_lquantize))
		return STYLE_PACK;
	return STYLE_PLAIN;
}

static int packed_columns(uint32_t size)
{
	return size == 1 ? 3 : size == 2 ? 5 : size == 4 ? 8 : 16;
}

static void table_init(struct table *t, struct cli_printer *p, const struct cli_agg *agg)
{
	*t = (struct table){ .p = p, .style = style_of(p, agg->kind), .scale.min_bucket = UINT_MAX };
	if (t->style == STYLE_PLAIN)
		return;
	for (size_t i = 0; i < agg->count; i++) {
		struct cli_aggval val = cli_agg_value(agg, agg->entries[i]);
		cli_scale_add(p, &t->scale, &val);
	}
}

static void table_heading(struct table *t, const struct cli_agg *agg)
{
	const struct dif_agg_layout *l;
	int width = 0;

	if (t->style == STYLE_PLAIN)
		return;
	l = agg->entries[0]->source->layout;
	for (uint32_t i = 0; i < l->nkeys; i++)
		width += packed_columns(l->keys[i].size) + 1;
	if (t->style == STYLE_HIST)
		cli_print_bar_heading(t->p, width);
	else
		cli_print_packed_heading(t->p, width, agg->kind, &t->scale);
}

static void print_keys(struct table *t, struct cli_agg_entry *e)
{
	t->p->guest = e->source->guest;
	for (uint32_t i = 0; i < e->source->layout->nkeys; i++) {
		struct cli_datum d = cli_agg_key(e, i);
		cli_print_datum(t->p, &d, t->style == STYLE_PLAIN ? CLI_WIDTH_KEY : CLI_WIDTH_PACKED);
	}
}

static void print_value(struct table *t, const struct cli_aggval *val)
{
	if (t->style == STYLE_HIST)
		cli_print_bar(t->p, val, &t->scale);
	else if (t->style == STYLE_PACK)
		cli_print_packed(t->p, val, &t->scale);
	else if (cli_aggval_is_histogram(val->kind))
		cli_print_histogram(t->p, val);
	else if (val->kind == DIF_AGG_stddev)
		fprintf(t->p->fp, " %16llu", (unsigned long long)cli_aggval_number(val));
	else
		fprintf(t->p->fp, " %16lld", (long long)cli_aggval_number(val));
}

/* An entry by a format: its keys for the plain conversions, @vals for those with @. */
static void print_formatted(struct cli_printer *p, struct cli_agg_entry *e, const struct dif_format *fmt,
			    const struct cli_aggval *vals, unsigned nvals)
{
	struct cli_datum keys[KEYS_MAX];
	uint32_t n = e->source->layout->nkeys < KEYS_MAX ? e->source->layout->nkeys : KEYS_MAX;

	p->guest = e->source->guest;
	for (uint32_t i = 0; i < n; i++)
		keys[i] = cli_agg_key(e, i);
	cli_print_format(p, fmt, keys, n, vals, nvals);
}

/* The default form of @n entries. Bars are on the scale of all the aggregation's entries. */
static void print_table(struct cli_printer *p, const struct cli_agg *agg, struct cli_agg_entry **entries,
			size_t n)
{
	struct table t;

	table_init(&t, p, agg);
	if (n)
		table_heading(&t, agg);
	for (size_t i = 0; i < n && !ferror(p->fp); i++) {
		struct cli_aggval val = cli_agg_value(agg, entries[i]);
		print_keys(&t, entries[i]);
		print_value(&t, &val);
		if (t.style == STYLE_PLAIN)
			putc('\n', p->fp);
	}
}

static struct ot_err *print_one(struct cli_printer *p, const struct cli_agg *agg,
				const struct dif_format *fmt)
{
	struct cli_agg_order order = cli_agg_order(p->opts);
	struct cli_agg_entry **sorted;

	OT_TRY(cli_agg_sort(agg, &order, &sorted));
	if (!fmt)
		print_table(p, agg, sorted, agg->count);
	for (size_t i = 0; fmt && i < agg->count && !ferror(p->fp); i++) {
		struct cli_aggval val = cli_agg_value(agg, sorted[i]);
		print_formatted(p, sorted[i], fmt, &val, 1);
	}
	free(sorted);
	return NULL;
}

/* --- several at once, joined by key ---------------------------------------------------- */

/* One key of any of the joined aggregations and its entry in each; NULL: it has none there. */
struct row {
	struct cli_agg_entry *key;
	struct cli_agg_entry *cells[];
};

struct join {
	struct cli_printer *p;
	struct cli_aggs *aggs;
	const uint32_t *ids;
	unsigned n;
	uint64_t **zeros; /* value of a missing cell, by position */
	struct cli_agg_order order;
	unsigned sortpos;
	struct ot_arena arena;
	struct row **rows;
	size_t nrows, cap;
};

static struct cli_aggval cell_value(const struct join *j, const struct row *row, unsigned i)
{
	struct cli_agg *agg = cli_aggs_get(j->aggs, j->ids[i]);

	if (row->cells[i])
		return cli_agg_value(agg, row->cells[i]);
	return (struct cli_aggval){ agg->kind, agg->arg, j->zeros[i], 1 };
}

static int compare_rows(const void *pa, const void *pb, void *arg)
{
	const struct row *a = *(const struct row *const *)pa, *b = *(const struct row *const *)pb;
	const struct join *j = arg;
	int c = 0;

	if (j->order.by_key)
		c = cli_agg_compare_keys(a->key, b->key, &j->order);
	for (unsigned i = 0; !c && i < j->n; i++) {
		unsigned k = (i + j->sortpos) % j->n;
		struct cli_aggval va = cell_value(j, a, k), vb = cell_value(j, b, k);
		c = cli_agg_compare_values(&va, &vb);
	}
	if (!c)
		c = cli_agg_compare_keys(a->key, b->key, &j->order);
	return j->order.reversed ? -c : c;
}

static struct ot_err *join_entry(struct join *j, struct ot_map *by_key, unsigned at, struct cli_agg_entry *e)
{
	const uint8_t *key = cli_agg_tuple(e);
	size_t len = e->source->layout->tuple_size;
	struct row *row = ot_map_get(by_key, key, len);

	if (!row) {
		row = ot_arena_alloc(&j->arena, sizeof(*row) + j->n * sizeof(struct cli_agg_entry *));
		if (!row || !ot_map_put(by_key, key, len, row) ||
		    !ot_grow(&j->rows, &j->cap, j->nrows + 1, sizeof(*j->rows)))
			return ot_err_nomem();
		row->key = e;
		j->rows[j->nrows++] = row;
	}
	row->cells[at] = e;
	return NULL;
}

static struct ot_err *join_all(struct join *j)
{
	struct ot_err *err = NULL;
	struct ot_map by_key;

	j->zeros = ot_arena_alloc(&j->arena, j->n * sizeof(*j->zeros));
	if (!j->zeros)
		return ot_err_nomem();
	ot_map_init(&by_key);
	for (unsigned i = 0; i < j->n && !err; i++) {
		struct cli_agg *agg = cli_aggs_get(j->aggs, j->ids[i]);
		j->zeros[i] = ot_arena_alloc(&j->arena, (dif_agg_words(agg->kind, agg->arg) + 1) * 8);
		if (!j->zeros[i])
			err = ot_err_nomem();
		for (size_t k = 0; k < agg->count && !err; k++)
			err = join_entry(j, &by_key, i, agg->entries[k]);
	}
	ot_map_deinit(&by_key);
	return err;
}

static void print_rows(struct join *j, const struct dif_format *fmt)
{
	struct table plain = { .p = j->p };

	for (size_t r = 0; r < j->nrows && !ferror(j->p->fp); r++) {
		struct cli_aggval vals[KEYS_MAX];
		for (unsigned i = 0; i < j->n; i++)
			vals[i] = cell_value(j, j->rows[r], i);
		if (fmt) {
			print_formatted(j->p, j->rows[r]->key, fmt, vals, j->n);
			continue;
		}
		print_keys(&plain, j->rows[r]->key);
		for (unsigned i = 0; i < j->n; i++)
			print_value(&plain, &vals[i]);
		putc('\n', j->p->fp);
	}
}

static struct ot_err *print_joined(struct cli_printer *p, struct cli_aggs *aggs, const uint32_t *ids,
				   unsigned n, const struct dif_format *fmt)
{
	struct join j = { .p = p, .aggs = aggs, .ids = ids, .n = n, .order = cli_agg_order(p->opts) };
	struct ot_err *err;

	if (p->opts->aggsortpos > 0 && p->opts->aggsortpos < (int64_t)n)
		j.sortpos = (unsigned)p->opts->aggsortpos;
	ot_arena_init(&j.arena);
	err = join_all(&j);
	if (!err) {
		if (j.nrows)
			qsort_r(j.rows, j.nrows, sizeof(*j.rows), compare_rows, &j);
		print_rows(&j, fmt);
	}
	free(j.rows);
	ot_arena_deinit(&j.arena);
	return err;
}

/* --- two views of one program ---------------------------------------------------------------- */

/* Both as two aggregations of one program, which join_all() knows how to bring together. */
static struct ot_err *each_pair(struct cli_printer *p, uint32_t id, struct cli_agg *outside,
				struct cli_agg *inside,
				void (*each)(void *arg, const struct cli_agg_pair *pair), void *arg)
{
	static const uint32_t ids[] = { 1, 2 };
	struct cli_agg vars[] = { *outside, *inside };
	struct cli_aggs both = { .vars = vars, .nvars = 2 };
	struct join j = { .p = p, .aggs = &both, .ids = ids, .n = 2, .order = cli_agg_order(p->opts) };

	ot_arena_init(&j.arena);
	struct ot_err *err = join_all(&j);

	if (!err && j.nrows)
		qsort_r(j.rows, j.nrows, sizeof(*j.rows), compare_rows, &j);
	for (size_t i = 0; !err && i < j.nrows && !ferror(p->fp); i++) {
		const struct cli_agg_pair pair = { id, i, j.rows[i]->key, cell_value(&j, j.rows[i], 0),
						   cell_value(&j, j.rows[i], 1) };

		each(arg, &pair);
	}
	free(j.rows);
	ot_arena_deinit(&j.arena);
	return err;
}

struct ot_err *cli_aggs_each_pair(struct cli_printer *p, struct cli_aggs *outside, struct cli_aggs *inside,
				  void (*each)(void *arg, const struct cli_agg_pair *pair), void *arg)
{
	for (uint32_t i = 0; i < outside->nvars && i < inside->nvars; i++)
		OT_TRY(each_pair(p, i + 1, &outside->vars[i], &inside->vars[i], each, arg));
	return NULL;
}

void cli_agg_print_keys(struct cli_printer *p, struct cli_agg_entry *e)
{
	struct table plain = { .p = p };

	print_keys(&plain, e);
}

/* Not by the name: what another clause adds under a new key is still to be shown at the end. Empty
 * columns count; a printa() that had nothing at all to show does not. */
static void mark_printed(struct cli_agg *agg)
{
	agg->printed_empty |= !agg->count;
	for (size_t i = 0; i < agg->count; i++)
		agg->entries[i]->source->printed = true;
}

struct ot_err *cli_printa(struct cli_printer *p, struct cli_aggs *aggs, const uint32_t *ids, unsigned nids,
			  const struct dif_format *fmt)
{
	bool any = false;

	if (nids > KEYS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "printa() of more than %d aggregations", KEYS_MAX);
	for (unsigned i = 0; i < nids; i++) {
		struct cli_agg *agg = cli_aggs_get(aggs, ids[i]);
		if (!agg)
			return ot_err_new(OT_ERR_BAD_DATA,
					  "printa() of an aggregation that the program has not");
		any |= agg->count != 0;
	}
	for (unsigned i = 0; any && i < nids; i++)
		mark_printed(cli_aggs_get(aggs, ids[i]));
	if (!fmt)
		putc('\n', p->fp);
	if (nids == 1)
		return print_one(p, cli_aggs_get(aggs, ids[0]), fmt);
	return nids ? print_joined(p, aggs, ids, nids, fmt) : NULL;
}

static struct ot_err *print_rest(struct cli_printer *p, const struct cli_agg *agg)
{
	struct cli_agg_order order = cli_agg_order(p->opts);
	struct cli_agg_entry **sorted;
	size_t n = 0;

	OT_TRY(cli_agg_sort(agg, &order, &sorted));
	for (size_t i = 0; i < agg->count; i++)
		if (!sorted[i]->source->printed)
			sorted[n++] = sorted[i];
	print_table(p, agg, sorted, n);
	free(sorted);
	return NULL;
}

struct ot_err *cli_print_aggregations(struct cli_printer *p, struct cli_aggs *aggs)
{
	for (uint32_t i = 0; i < aggs->nvars; i++)
		OT_TRY(print_rest(p, &aggs->vars[p->opts->aggsortrev ? aggs->nvars - 1 - i : i]));
	return NULL;
}
