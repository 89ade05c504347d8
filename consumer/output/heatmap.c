/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heat map: one self-contained HTML file (heatmap.html), with the counts of each bucket of each histogram
 * in each interval as JSON. An interval is an aggrate. The counts of a series add up to those of its
 * aggregation, except for counts that a program clears between two intervals.
 *
 *   {"start": MS, "ends": [MS, …], "series": [{"title": "@[read]", "function": "quantize",
 *     "rows": ["64 to 127", …], "cells": [[COLUMN, ROW, COUNT], …]}]}
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/json.h"
#include "consumer/messages.h"
#include "consumer/output/fold.h"
#include "consumer/output/heatmap_series.h"
#include "consumer/output/keys.h"
#include "consumer/output/page.h"

struct heatmap {
	struct con_output base;
	struct con_heatmap map;
	uint64_t start_ns, start_ms; /* by ot_now_ns(), and since 1970 */
	bool reported;               /* a value is not a histogram */
	bool ended;
};

static void begin(struct heatmap *h)
{
	struct timespec t;

	if (h->start_ns)
		return;
	con_heatmap_init(&h->map);
	clock_gettime(CLOCK_REALTIME, &t);
	h->start_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	h->start_ns = ot_now_ns();
}

static void heatmap_started(struct con_output *o, const struct dif_program *prog)
{
	(void)prog;
	begin((struct heatmap *)o);
}

static void leave_out(struct heatmap *h)
{
	if (!h->reported)
		con_error("oformat=heatmap shows distributions over time: use quantize(), lquantize() or "
			  "llquantize()");
	h->reported = true;
}

/* --- an interval ----------------------------------------------------------------------------------------- */

/* The series of all rows without one of their own. */
struct others {
	struct con_rows rows; /* of any of them */
	struct con_aggval val;
	int64_t *counts; /* NULL: there are none */
};

static struct ot_err *add_to_others(struct others *others, const struct con_rows *rows)
{
	if (!others->counts) {
		others->counts = calloc(rows->n, sizeof(*others->counts));
		if (!others->counts)
			return ot_err_nomem();
		others->rows = *rows;
		others->val = *rows->val;
		others->rows.val = &others->val;
	}
	for (unsigned i = 0; i < rows->n; i++)
		others->counts[i] += con_rows_divided(rows, i);
	return NULL;
}

static struct ot_err *take_others(struct heatmap *h, const struct con_agg *agg, const struct others *others)
{
	ot_auto(ot_buf_deinit) struct ot_buf identity = { 0 };

	ot_buf_append(&identity, &agg, sizeof(agg));
	if (identity.failed)
		return ot_err_nomem();
	struct con_heatmap_series *s = con_heatmap_find(&h->map, &identity);
	if (!s) {
		OT_TRY(con_heatmap_add(&h->map, &identity, &others->rows, &s));
		ot_buf_printf(&s->title, "@%s[all others]", !strcmp(agg->name, "_") ? "" : agg->name);
	}
	return con_heatmap_take(&h->map, s, others->counts);
}

static struct ot_err *take_row(struct heatmap *h, struct con_heatmap_series *s, const struct con_rows *rows)
{
	ot_auto_free int64_t *counts = calloc(rows->n, sizeof(*counts));

	if (!counts)
		return ot_err_nomem();
	for (unsigned i = 0; i < rows->n; i++)
		counts[i] = con_rows_divided(rows, i);
	return con_heatmap_take(&h->map, s, counts);
}

static struct ot_err *put_row(struct heatmap *h, const struct con_agg_view *view, size_t i,
			      struct others *others)
{
	const struct con_agg *agg = view->columns[0];
	ot_auto(ot_buf_deinit) struct ot_buf identity = { 0 };
	struct con_heatmap_series *s;
	struct con_rows rows;
	struct con_row row;

	con_row_read(&row, &h->base.printer, view, i);
	if (!con_rows_init(&rows, &row.vals[0]))
		return NULL;
	con_key_identity(&identity, agg, con_agg_view_key(view, i)->source, &row);
	if (identity.failed)
		return ot_err_nomem();
	s = con_heatmap_find(&h->map, &identity);
	if (!s && h->map.by_key.count >= CON_HEATMAP_SERIES)
		return add_to_others(others, &rows);
	if (!s) {
		OT_TRY(con_heatmap_add(&h->map, &identity, &rows, &s));
		con_key_title(&s->title, &h->base.printer, agg, &row);
	}
	return take_row(h, s, &rows);
}

/* The greatest rows first: they get the series. */
static struct ot_err *put_aggregation(struct heatmap *h, struct con_agg *agg)
{
	const struct con_agg_order order = { .reversed = true };
	struct others others = { 0 };
	struct ot_err *err = NULL;
	struct con_agg_view view;

	if (!con_aggval_is_histogram(agg->kind)) {
		leave_out(h);
		return NULL;
	}
	OT_TRY(con_agg_view_init(&view, &agg, 1, &order));
	for (size_t i = 0; i < view.nrows && !err; i++)
		err = put_row(h, &view, i, &others);
	if (!err && others.counts)
		err = take_others(h, agg, &others);
	free(others.counts);
	con_agg_view_deinit(&view);
	return err;
}

static struct ot_err *heatmap_interval(struct con_output *o, struct con_aggs *aggs, bool last)
{
	struct heatmap *h = (struct heatmap *)o;

	(void)last;
	begin(h);
	for (uint32_t i = 0; i < aggs->nvars && aggs->vars[i].name; i++)
		OT_TRY(put_aggregation(h, &aggs->vars[i]));
	return con_heatmap_end(&h->map, ot_now_ns());
}

/* --- the page -------------------------------------------------------------------------------------------- */

/* The values of a bucket: "64 to 127". */
static void range_text(const struct con_rows *rows, unsigned row, char *buf, size_t size)
{
	int64_t low = 0, high = 0;
	bool has_low = row && con_rows_upper(rows, row - 1, &low),
	     has_high = con_rows_upper(rows, row, &high);

	if (has_low && low < INT64_MAX)
		low++;
	if (!has_low)
		snprintf(buf, size, "up to %lld", (long long)high);
	else if (!has_high)
		snprintf(buf, size, "%lld or more", (long long)low);
	else if (low == high)
		snprintf(buf, size, "%lld", (long long)low);
	else
		snprintf(buf, size, "%lld to %lld", (long long)low, (long long)high);
}

static void put_ranges(struct ot_json *j, const struct con_heatmap_series *s, uint32_t first, uint32_t last)
{
	const struct con_aggval val = { .kind = s->kind, .arg = s->arg };
	const struct con_rows rows = { .val = &val, .n = s->n };
	char text[64];

	ot_json_key(j, "rows");
	ot_json_array(j, OT_JSON_INLINE);
	for (uint32_t i = first; s->ncells && i <= last; i++) {
		range_text(&rows, i, text, sizeof(text));
		ot_json_string(j, text);
	}
	ot_json_end(j);
}

static void put_series(struct ot_json *j, const struct con_heatmap_series *s)
{
	uint32_t first = UINT32_MAX, last = 0;

	for (size_t i = 0; i < s->ncells; i++) {
		first = s->cells[i].row < first ? s->cells[i].row : first;
		last = s->cells[i].row > last ? s->cells[i].row : last;
	}
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_member_string(j, "title", ot_buf_str(&s->title));
	ot_json_member_string(j, "function", dif_action_name(s->kind));
	put_ranges(j, s, first, last);
	ot_json_key(j, "cells");
	ot_json_array(j, OT_JSON_INLINE);
	for (size_t i = 0; i < s->ncells; i++) {
		ot_json_array(j, OT_JSON_INLINE);
		ot_json_uint(j, s->cells[i].column);
		ot_json_uint(j, s->cells[i].row - first);
		ot_json_int(j, s->cells[i].count);
		ot_json_end(j);
	}
	ot_json_end(j);
	ot_json_end(j);
}

static void put_data(struct ot_json *j, const struct heatmap *h)
{
	ot_json_object(j, OT_JSON_LINES);
	ot_json_member_uint(j, "start", h->start_ms);
	ot_json_key(j, "ends");
	ot_json_array(j, OT_JSON_INLINE);
	for (uint32_t i = 0; i < h->map.ncolumns; i++)
		ot_json_uint(j, (h->map.ends[i] - h->start_ns) / 1000000);
	ot_json_end(j);
	ot_json_key(j, "series");
	ot_json_array(j, OT_JSON_LINES);
	for (size_t i = 0; i < h->map.by_key.count; i++)
		put_series(j, h->map.by_key.entries[i]->value);
	ot_json_end(j);
	ot_json_end(j);
}

static struct ot_err *write_page(struct heatmap *h)
{
	ot_auto_free char *text = NULL;
	struct ot_json json;
	size_t len = 0;
	FILE *fp = open_memstream(&text, &len);

	if (!fp)
		return ot_err_os(errno, "collecting the heat map");
	ot_json_init(&json, fp);
	put_data(&json, h);
	struct ot_err *err = ot_json_finish(&json);
	if (fclose(fp) && !err)
		err = ot_err_nomem();
	if (!err)
		con_page_write(h->base.printer.fp, con_heatmap_page, text, len);
	return err;
}

static struct ot_err *heatmap_end(struct con_output *o)
{
	struct heatmap *h = (struct heatmap *)o;

	if (h->ended)
		return NULL;
	h->ended = true;
	begin(h);
	struct ot_err *err = write_page(h);
	con_heatmap_deinit(&h->map);
	return err;
}

/* --- what is no histogram -------------------------------------------------------------------------------- */

static void heatmap_value(struct con_output *o, const struct con_datum *d)
{
	(void)d;
	leave_out((struct heatmap *)o);
}

static void heatmap_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
			 unsigned nargs)
{
	(void)fmt, (void)args, (void)nargs;
	leave_out((struct heatmap *)o);
}

/* printa() shows the same as interval(). */
static struct ot_err *heatmap_aggregation(struct con_output *o, const struct con_agg_view *view,
					  const struct dif_format *fmt)
{
	(void)o, (void)view, (void)fmt;
	return NULL;
}

const struct con_output_ops con_output_heatmap = {
	.format = "heatmap",
	.file = CON_FILE_REPLACED,
	.size = sizeof(struct heatmap),
	.started = heatmap_started,
	.record = con_fold_record,
	.value = heatmap_value,
	.text = heatmap_text,
	.aggregation = heatmap_aggregation,
	.record_end = con_fold_moment,
	.interval = heatmap_interval,
	.fault = con_text_fault,
	.drop = con_text_drop,
	.overload = con_text_overload,
	.interrupted = con_fold_moment,
	.stopped = con_fold_moment,
	.end = heatmap_end,
	.comparison = con_text_comparison,
	.hidden = con_text_hidden,
};
