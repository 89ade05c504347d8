/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms over time: see heatmap_series.h. */
#include "consumer/output/heatmap_series.h"

#include <stdlib.h>
#include <string.h>

void con_heatmap_init(struct con_heatmap *h)
{
	memset(h, 0, sizeof(*h));
	ot_map_init(&h->by_key);
}

static void series_destroy(struct con_heatmap_series *s)
{
	if (!s)
		return;
	ot_buf_deinit(&s->title);
	free(s->before);
	free(s->cells);
	free(s);
}

void con_heatmap_deinit(struct con_heatmap *h)
{
	for (size_t i = 0; i < h->by_key.count; i++)
		series_destroy(h->by_key.entries[i]->value);
	ot_map_deinit(&h->by_key);
}

struct con_heatmap_series *con_heatmap_find(const struct con_heatmap *h, const struct ot_buf *identity)
{
	return ot_map_get(&h->by_key, ot_buf_str(identity), identity->len);
}

struct ot_err *con_heatmap_add(struct con_heatmap *h, const struct ot_buf *identity,
			       const struct con_rows *rows, struct con_heatmap_series **ret)
{
	struct con_heatmap_series *s = calloc(1, sizeof(*s));

	if (s)
		s->before = calloc(rows->n, sizeof(*s->before));
	if (!s || !s->before || !ot_map_put(&h->by_key, ot_buf_str(identity), identity->len, s)) {
		series_destroy(s);
		return ot_err_nomem();
	}
	ot_buf_init(&s->title);
	s->kind = rows->val->kind;
	s->arg = rows->val->arg;
	s->n = rows->n;
	*ret = s;
	return NULL;
}

/* --- two columns as one ---------------------------------------------------------------------------------- */

/* Merge the cells from @from on in columns 2 * @column and 2 * @column + 1 into one column at @to. Both are
 * in order of rows; @spare holds the first of them. */
static size_t merge_pair(struct con_heatmap_series *s, size_t *from, size_t to, uint32_t column,
			 struct con_heatmap_cell *spare)
{
	size_t a = 0, na = 0, b = *from;

	while (b < s->ncells && s->cells[b].column == 2 * column)
		spare[na++] = s->cells[b++];
	while (a < na || (b < s->ncells && s->cells[b].column == 2 * column + 1)) {
		bool has_b = b < s->ncells && s->cells[b].column == 2 * column + 1;
		uint32_t row =
		    a < na && (!has_b || spare[a].row <= s->cells[b].row) ? spare[a].row : s->cells[b].row;
		int64_t count = 0;

		if (a < na && spare[a].row == row)
			count = spare[a++].count;
		if (has_b && s->cells[b].row == row)
			count += s->cells[b++].count;
		s->cells[to++] = (struct con_heatmap_cell){ column, row, count };
	}
	*from = b;
	return to;
}

static void halve_series(struct con_heatmap_series *s, struct con_heatmap_cell *spare)
{
	size_t to = 0;

	for (size_t from = 0; from < s->ncells;)
		to = merge_pair(s, &from, to, s->cells[from].column / 2, spare);
	s->ncells = to;
}

static struct ot_err *halve(struct con_heatmap *h)
{
	unsigned n = 1;

	for (size_t i = 0; i < h->by_key.count; i++) {
		const struct con_heatmap_series *s = h->by_key.entries[i]->value;
		n = s->n > n ? s->n : n;
	}
	struct con_heatmap_cell *spare = calloc(n, sizeof(*spare));
	if (!spare)
		return ot_err_nomem();
	for (size_t i = 0; i < h->by_key.count; i++)
		halve_series(h->by_key.entries[i]->value, spare);
	free(spare);
	for (uint32_t i = 0; i < h->ncolumns / 2; i++)
		h->ends[i] = h->ends[2 * i + 1];
	h->ncolumns /= 2;
	return NULL;
}

/* --- filling --------------------------------------------------------------------------------------------- */

struct ot_err *con_heatmap_end(struct con_heatmap *h, uint64_t now_ns)
{
	h->ends[h->ncolumns++] = now_ns;
	return h->ncolumns == CON_HEATMAP_COLUMNS ? halve(h) : NULL;
}

static bool was_cleared(const struct con_heatmap_series *s, const int64_t *counts)
{
	for (unsigned i = 0; i < s->n; i++)
		if (counts[i] < s->before[i])
			return true;
	return false;
}

struct ot_err *con_heatmap_take(struct con_heatmap *h, struct con_heatmap_series *s, const int64_t *counts)
{
	bool cleared = was_cleared(s, counts);

	if (!ot_grow(&s->cells, &s->cap, s->ncells + s->n, sizeof(*s->cells)))
		return ot_err_nomem();
	for (unsigned i = 0; i < s->n; i++) {
		int64_t count = (int64_t)((uint64_t)counts[i] - (cleared ? 0 : (uint64_t)s->before[i]));

		if (count)
			s->cells[s->ncells++] = (struct con_heatmap_cell){ h->ncolumns, i, count };
		s->before[i] = counts[i];
	}
	return NULL;
}
