/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of `outsight compare` as JSON. The program's own output is text. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/output/quantize_rows.h"
#include "cli/output/text.h"

/* --- aggregations -------------------------------------------------------------------------------------- */

/* A key's text as in a table, without padding; the caller's, NULL without memory. */
static char *shown_key(struct cli_printer *p, const struct cli_datum *d)
{
	char *text = NULL, *from, *end;
	size_t len = 0;
	FILE *fp = p->fp;

	p->fp = open_memstream(&text, &len);
	if (p->fp) {
		cli_print_datum(p, d, CLI_WIDTH_KEY);
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

static struct ot_err *json_key(struct ot_json *j, struct cli_printer *p, const struct cli_datum *d)
{
	char *text;

	switch (cli_datum_shape(d)) {
	case CLI_SHAPE_STRING:
		ot_json_text(j, d->data, strnlen((const char *)d->data, d->size));
		return NULL;
	case CLI_SHAPE_INTEGER:
		ot_json_int(j, cli_load_integer(d->data, d->size));
		return NULL;
	default: /* as a table shows it */
		text = shown_key(p, d);
		if (!text)
			return ot_err_nomem();
		ot_json_string(j, text);
		free(text);
		return NULL;
	}
}

static void json_value(struct ot_json *j, const struct cli_aggval *val)
{
	struct cli_rows rows;
	char label[32];

	if (!cli_aggval_is_histogram(val->kind)) {
		ot_json_int(j, cli_aggval_number(val));
		return;
	}
	ot_json_object(j, OT_JSON_INLINE);
	for (unsigned i = 0; cli_rows_init(&rows, val) && i < rows.n; i++) {
		if (!rows.counts[i])
			continue;
		cli_rows_label(&rows, i, label, sizeof(label));
		ot_json_key(j, label);
		ot_json_int(j, cli_rows_divided(&rows, i));
	}
	ot_json_end(j);
}

static struct ot_err *json_row(struct ot_json *j, struct cli_printer *p, const struct cli_agg_view *v,
			       size_t row)
{
	struct cli_aggval outside = cli_agg_view_value(v, row, CLI_VIEW_OUTSIDE),
			  inside = cli_agg_view_value(v, row, CLI_VIEW_INSIDE);
	struct cli_agg_entry *key = cli_agg_view_key(v, row);

	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "aggregation");
	ot_json_string(j, v->columns[0]->name);
	ot_json_key(j, "keys");
	ot_json_array(j, OT_JSON_INLINE);
	p->guest = key->source->guest;
	for (uint32_t i = 0; i < key->source->layout->nkeys; i++) {
		struct cli_datum d = cli_agg_key(key, i);

		OT_TRY(json_key(j, p, &d));
	}
	ot_json_end(j);
	ot_json_key(j, "outside");
	json_value(j, &outside);
	ot_json_key(j, "inside");
	json_value(j, &inside);
	if (!cli_aggval_is_histogram(outside.kind)) {
		ot_json_key(j, "difference");
		ot_json_int(j, cli_comparison_difference(v, row));
	}
	ot_json_end(j);
	return NULL;
}

static struct ot_err *json_aggregations(struct ot_json *j, struct cli_printer *p,
					const struct cli_comparison *c)
{
	struct ot_err *err = NULL;

	ot_json_array(j, OT_JSON_LINES);
	for (uint32_t i = 0; !err && i < c->outside->nvars; i++) {
		struct cli_agg_view view;

		OT_TRY(cli_comparison_view(c, i, p->opts, &view));
		for (size_t row = 0; !err && row < view.nrows && !ferror(p->fp); row++)
			err = json_row(j, p, &view, row);
		cli_agg_view_deinit(&view);
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

static void json_guest(struct ot_json *j, const struct cli_window_guest *g)
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

static struct ot_err *json_comparison(struct cli_output *o, const struct cli_comparison *c)
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

static void json_ways(const struct cli_hidden_kind *kind, uint32_t which, struct ot_json *j)
{
	ot_json_array(j, OT_JSON_INLINE);
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (which & kind->ways[i].way)
			ot_json_string(j, kind->ways[i].name);
	ot_json_end(j);
}

static void json_item(const struct cli_hidden_kind *kind, const struct vp_found *f, uint32_t ways,
		      struct ot_json *j)
{
	ot_json_object(j, OT_JSON_INLINE);
	if (kind->numbered) {
		ot_json_key(j, "pid");
		ot_json_uint(j, f->id);
	}
	ot_json_key(j, "name");
	ot_json_string(j, f->name);
	ot_json_key(j, "seen");
	json_ways(kind, f->ways, j);
	ot_json_key(j, "missing");
	json_ways(kind, ways & ~f->ways, j);
	ot_json_key(j, "outside");
	ot_json_bool(j, f->ways & ~CLI_HIDDEN_INSIDE);
	ot_json_key(j, "inside");
	ot_json_bool(j, f->ways & CLI_HIDDEN_INSIDE);
	ot_json_end(j);
}

static struct ot_err *json_hidden(struct cli_output *o, const struct cli_hidden_kind *kind,
				  const struct cli_hidden *h, uint32_t ways)
{
	struct ot_json j;

	ot_json_init(&j, o->printer.fp);
	ot_json_array(&j, OT_JSON_LINES);
	for (size_t i = 0; i < h->differing.count; i++)
		json_item(kind, &h->differing.items[i], ways, &j);
	ot_json_end(&j);
	return ot_json_finish(&j);
}

const struct cli_output_ops cli_output_json = {
	.option = "--json",
	.size = sizeof(struct cli_text),
	.awaits_next = cli_text_awaits_next,
	.record = cli_text_record,
	.value = cli_text_value,
	.text = cli_text_text,
	.aggregation = cli_text_aggregation,
	.record_end = cli_text_record_end,
	.fault = cli_text_fault,
	.drop = cli_text_drop,
	.overload = cli_text_overload,
	.interrupted = cli_text_empty_line,
	.stopped = cli_text_empty_line,
	.comparison = json_comparison,
	.hidden = json_hidden,
};
