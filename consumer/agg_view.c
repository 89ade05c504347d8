/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sorting one aggregation, or joining several by key, for printing. */
#include "consumer/agg_view.h"

#include <stdlib.h>
#include <string.h>

#include "dif/vm/agg.h"

struct con_agg_entry *con_agg_view_key(const struct con_agg_view *v, size_t row)
{
	struct con_agg_entry *const *cell = v->cells + row * v->ncolumns;

	while (!*cell)
		cell++;
	return *cell;
}

static struct con_aggval cell_value(const struct con_agg_view *v, struct con_agg_entry *const *row,
				    unsigned column)
{
	const struct con_agg *agg = v->columns[column];

	if (row[column])
		return con_agg_value(agg, row[column]);
	return (struct con_aggval){ agg->kind, agg->arg, v->zeros, 1 };
}

struct con_aggval con_agg_view_value(const struct con_agg_view *v, size_t row, unsigned column)
{
	return cell_value(v, v->cells + row * v->ncolumns, column);
}

void con_agg_view_deinit(struct con_agg_view *v)
{
	free(v->cells);
	free(v->zeros);
}

void con_agg_view_keep_rest(struct con_agg_view *v)
{
	size_t n = 0;

	for (size_t i = 0; i < v->nrows; i++)
		if (!v->cells[i]->source->printed)
			v->cells[n++] = v->cells[i];
	v->nrows = n;
	v->rest = true;
}

/* --- several, joined by key ---------------------------------------------------------------------------- */

struct join {
	struct con_agg_view *view;
	size_t cap;           /* cells */
	struct ot_map by_key; /* key → 1 + row */
	struct ot_buf key;    /* of the entry that is being joined */
	const struct con_agg_order *order;
};

static struct ot_err *join_entry(struct join *j, unsigned column, struct con_agg_entry *e)
{
	struct con_agg_view *v = j->view;
	uint32_t owner = e->source->own ? 1 + e->source->guest : 0;

	ot_buf_clear(&j->key);
	ot_buf_append(&j->key, con_agg_tuple(e), e->source->layout->tuple_size);
	ot_buf_append(&j->key, &owner, sizeof(owner));
	if (j->key.failed)
		return ot_err_nomem();
	uintptr_t row = (uintptr_t)ot_map_get(&j->by_key, j->key.data, j->key.len);

	if (!row) {
		row = ++v->nrows;
		if (!ot_grow(&v->cells, &j->cap, v->nrows * v->ncolumns, sizeof(*v->cells)) ||
		    !ot_map_put(&j->by_key, j->key.data, j->key.len, (void *)row))
			return ot_err_nomem();
		memset(v->cells + (row - 1) * v->ncolumns, 0, v->ncolumns * sizeof(*v->cells));
	}
	v->cells[(row - 1) * v->ncolumns + column] = e;
	return NULL;
}

static struct con_agg_entry *row_key(struct con_agg_entry *const *row)
{
	while (!*row)
		row++;
	return *row;
}

/* By key, or by the values from order->column on and then by key. */
static int compare_rows(const void *pa, const void *pb, void *arg)
{
	struct con_agg_entry *const *a = pa, *const *b = pb;
	const struct join *j = arg;
	const struct con_agg_view *v = j->view;
	int c = 0;

	if (j->order->by_key)
		c = con_agg_compare_keys(row_key(a), row_key(b), j->order);
	for (unsigned i = 0; !c && i < v->ncolumns; i++) {
		unsigned k = (i + j->order->column) % v->ncolumns;
		struct con_aggval va = cell_value(v, a, k), vb = cell_value(v, b, k);
		c = con_agg_compare_values(&va, &vb);
	}
	if (!c)
		c = con_agg_compare_keys(row_key(a), row_key(b), j->order);
	return j->order->reversed ? -c : c;
}

static struct ot_err *join_all(struct join *j)
{
	struct con_agg_view *v = j->view;
	size_t words = 0;

	for (unsigned i = 0; i < v->ncolumns; i++) {
		const struct con_agg *agg = v->columns[i];
		size_t n = dif_agg_words(agg->kind, agg->arg);

		words = n > words ? n : words;
		for (size_t k = 0; k < agg->count; k++)
			OT_TRY(join_entry(j, i, agg->entries[k]));
	}
	v->zeros = calloc(words + 1, sizeof(*v->zeros));
	if (!v->zeros)
		return ot_err_nomem();
	if (v->nrows)
		qsort_r(v->cells, v->nrows, v->ncolumns * sizeof(*v->cells), compare_rows, j);
	return NULL;
}

struct ot_err *con_agg_view_init(struct con_agg_view *v, struct con_agg *const *columns, unsigned n,
				 const struct con_agg_order *order)
{
	struct join j = { .view = v, .order = order };

	*v = (struct con_agg_view){ .ncolumns = n };
	if (n)
		memcpy(v->columns, columns, n * sizeof(struct con_agg *));
	if (n == 1) {
		v->nrows = columns[0]->count;
		return con_agg_sort(columns[0], order, &v->cells);
	}
	ot_map_init(&j.by_key);
	ot_buf_init(&j.key);
	struct ot_err *err = join_all(&j);

	ot_map_deinit(&j.by_key);
	ot_buf_deinit(&j.key);
	if (err)
		con_agg_view_deinit(v);
	return err;
}
