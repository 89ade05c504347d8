/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of `outsight compare` as JSON. The program's own output is text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "consumer/output/quantize_rows.h"
#include "consumer/output/text.h"

/* --- aggregations -------------------------------------------------------------------------------------- */

/* A key's text as in a table, without padding; the caller's, NULL without memory. */
static char *shown_key(struct con_printer *p, const struct con_datum *d)
{
	char *text = NULL, *from, *end;
	size_t len = 0;
	FILE *fp = p->fp;

	p->fp = open_memstream(&text, &len);
	if (p->fp) {
		con_print_datum(p, d, CON_WIDTH_KEY);
		fclose(p->fp);
	}
	p->fp = fp;
	if (!text)
		return NULL;
	for (from = text; isspace((unsigned char)*from); from++)
		;
	for (end = from + strlen(from); end > from && isspace((unsigned char)end[-1]); end--)
		end[-1] = 0;
	memmove(text, from, strlen(from) + 1);
	return text;
}

static struct ot_err *json_key(struct ot_json *j, struct con_printer *p, const struct con_datum *d)
{
	char *text;

	switch (con_datum_shape(d)) {
	case CON_SHAPE_STRING:
		ot_json_text(j, d->data, strnlen((const char *)d->data, d->size));
		return NULL;
	case CON_SHAPE_INTEGER:
		ot_json_int(j, con_load_integer(d->data, d->size));
		return NULL;
	default: /* as in a table */
		text = shown_key(p, d);
		if (!text)
			return ot_err_nomem();
		ot_json_string(j, text);
		free(text);
		return NULL;
	}
}

static void json_value(struct ot_json *j, const struct con_aggval *val)
{
	struct con_rows rows;
	char label[32];

	if (!con_aggval_is_histogram(val->kind)) {
		ot_json_int(j, con_aggval_number(val));
		return;
	}
	ot_json_object(j, OT_JSON_INLINE);
	for (unsigned i = 0; con_rows_init(&rows, val) && i < rows.n; i++) {
		if (!rows.counts[i])
			continue;
		con_rows_label(&rows, i, label, sizeof(label));
		ot_json_key(j, label);
		ot_json_int(j, con_rows_divided(&rows, i));
	}
	ot_json_end(j);
}

static struct ot_err *json_row(struct ot_json *j, struct con_printer *p, const struct con_agg_view *v,
			       size_t row)
{
	struct con_aggval outside = con_agg_view_value(v, row, CON_VIEW_OUTSIDE),
			  inside = con_agg_view_value(v, row, CON_VIEW_INSIDE);
	struct con_agg_entry *key = con_agg_view_key(v, row);

	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "aggregation");
	ot_json_string(j, v->columns[0]->name);
	ot_json_key(j, "keys");
	ot_json_array(j, OT_JSON_INLINE);
	p->guest = key->source->guest;
	for (uint32_t i = 0; i < key->source->layout->nkeys; i++) {
		struct con_datum d = con_agg_key(key, i);

		OT_TRY(json_key(j, p, &d));
	}
	ot_json_end(j);
	ot_json_key(j, "outside");
	json_value(j, &outside);
	ot_json_key(j, "inside");
	json_value(j, &inside);
	if (!con_aggval_is_histogram(outside.kind)) {
		ot_json_key(j, "difference");
		ot_json_int(j, con_comparison_difference(v, row));
	}
	ot_json_end(j);
	return NULL;
}

static struct ot_err *json_aggregations(struct ot_json *j, struct con_printer *p,
					const struct con_comparison *c)
{
	struct ot_err *err = NULL;

	ot_json_array(j, OT_JSON_LINES);
	for (uint32_t i = 0; !err && i < c->outside->nvars; i++) {
		struct con_agg_view view;

		OT_TRY(con_comparison_view(c, i, p->opts, &view));
		for (size_t row = 0; !err && row < view.nrows && !ferror(p->fp); row++)
			err = json_row(j, p, &view, row);
		con_agg_view_deinit(&view);
	}
	ot_json_end(j);
	return err;
}

/* --- the window ---------------------------------------------------------------------------------------- */

static void json_clock(const struct vp_clock_mark *m, struct ot_json *j)
{
	if (!m->bound_ns) {
		ot_json_null(j);
		return;
	}
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "tsc");
	ot_json_uint(j, m->tsc);
	ot_json_key(j, "host_ns");
	ot_json_uint(j, m->ns);
	ot_json_key(j, "bound_ns");
	ot_json_uint(j, m->bound_ns);
	ot_json_end(j);
}

static void json_stolen(const struct vp_stolen *t, struct ot_json *j)
{
	if (!t->by_guest) {
		ot_json_null(j);
		return;
	}
	ot_json_array(j, OT_JSON_INLINE);
	for (uint32_t i = 0; i < t->nvcpus; i++)
		ot_json_uint(j, t->vcpu_ns[i]);
	ot_json_end(j);
}

static void json_guest(struct ot_json *j, const struct con_window_guest *g)
{
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "guest");
	ot_json_string(j, g->name);
	ot_json_key(j, "window_ns");
	ot_json_uint(j, g->stolen.at_ns);
	ot_json_key(j, "clock");
	json_clock(&g->clock, j);
	ot_json_key(j, "stolen_ns");
	json_stolen(&g->stolen, j);
	ot_json_key(j, "vmm_waited_ns");
	if (g->stolen.by_host)
		ot_json_uint(j, g->stolen.host_ns);
	else
		ot_json_null(j);
	ot_json_end(j);
}

static struct ot_err *json_comparison(struct con_output *o, const struct con_comparison *c)
{
	struct ot_json j;

	ot_json_init(&j, o->printer.fp);
	ot_json_object(&j, OT_JSON_INLINE);
	ot_json_key(&j, "aggregations");
	OT_TRY(json_aggregations(&j, &o->printer, c));
	ot_json_key(&j, "guests");
	ot_json_array(&j, OT_JSON_LINES);
	for (uint32_t i = 0; i < c->window->nguests; i++)
		json_guest(&j, &c->window->guests[i]);
	ot_json_end(&j);
	ot_json_end(&j);
	return ot_json_finish(&j);
}

/* --- hidden items -------------------------------------------------------------------------------------- */

static void json_ways(const struct con_hidden_kind *kind, uint32_t which, struct ot_json *j)
{
	ot_json_array(j, OT_JSON_INLINE);
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (which & kind->ways[i].way)
			ot_json_string(j, kind->ways[i].name);
	ot_json_end(j);
}

static void json_meaning(const struct con_hidden_kind *kind, const struct vp_found *f, uint32_t ways,
			 struct ot_json *j)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };

	con_hidden_meaning(kind, f, ways, &text);
	ot_json_member_string(j, "meaning", ot_buf_str(&text));
}

static struct ot_err *json_item(const struct con_hidden_kind *kind, const struct con_hidden *h, size_t i,
				uint32_t ways, struct ot_json *j)
{
	static const char *const types[] = {
		[CON_HIDDEN_IS] = "difference", [CON_HIDDEN_NEW] = "new", [CON_HIDDEN_GONE] = "gone"
	};
	const struct vp_found *f = &h->differing.items[i];

	ot_json_object(j, OT_JSON_INLINE);
	ot_json_member_string(j, "type", types[h->change]);
	if (h->change != CON_HIDDEN_IS)
		ot_json_member_uint(j, "time", h->time_ns);
	ot_json_member_string(j, "list", kind->many);
	if (kind->numbered)
		ot_json_member_uint(j, "pid", f->id);
	ot_json_member_string(j, "name", f->name);
	if (f->owner)
		ot_json_member_uint(j, "owner", f->owner);
	ot_json_key(j, "seen");
	json_ways(kind, f->ways, j);
	ot_json_key(j, "missing");
	json_ways(kind, ways & ~f->ways, j);
	ot_json_key(j, "outside");
	ot_json_bool(j, f->ways & ~CON_HIDDEN_OWN);
	ot_json_key(j, "inside");
	ot_json_bool(j, f->ways & CON_HIDDEN_OWN);
	json_meaning(kind, f, ways, j);
	ot_json_end(j);
	return ot_json_finish(j);
}

/* An object a line, so that a reader gets each at once. */
static struct ot_err *json_hidden(struct con_output *o, const struct con_hidden_kind *kind,
				  const struct con_hidden *h, uint32_t ways)
{
	struct ot_json j;

	ot_json_init(&j, o->printer.fp);
	for (size_t i = 0; i < h->differing.count; i++)
		OT_TRY(json_item(kind, h, i, ways, &j));
	if (h->change != CON_HIDDEN_IS)
		return NULL;
	ot_json_object(&j, OT_JSON_INLINE);
	ot_json_member_string(&j, "type", "result");
	ot_json_member_string(&j, "list", kind->many);
	ot_json_member_uint(&j, "differences", h->differing.count);
	ot_json_end(&j);
	return ot_json_finish(&j);
}

const struct con_output_ops con_output_json = {
	.option = "--json",
	CON_TEXT_OPS,
	.comparison = json_comparison,
	.hidden = json_hidden,
};
