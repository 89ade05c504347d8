/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations as Perfetto's counters: one for each key, with a value at each aggrate at which it differs. */
#include <string.h>

#include "base/clock.h"
#include "cli/output/keys.h"
#include "cli/output/perfetto.h"

/* "@name[key, key]" */
static void put_title(struct ot_buf *out, struct cli_perfetto *p, const struct cli_agg *agg,
		      const struct cli_row *row)
{
	ot_buf_printf(out, "@%s", !strcmp(agg->name, "_") ? "" : agg->name);
	for (uint32_t i = 0; i < row->nkeys; i++) {
		ot_buf_puts(out, i ? ", " : "[");
		cli_key_text(out, &p->base.printer, &row->keys[i]);
	}
	if (row->nkeys)
		ot_buf_puts(out, "]");
}

static void put_key(struct ot_buf *out, const struct cli_agg *agg, const struct cli_agg_source *source,
		    const struct cli_row *row)
{
	ot_buf_append(out, &agg, sizeof(agg));
	ot_buf_append(out, &source, sizeof(source));
	for (uint32_t i = 0; i < row->nkeys; i++)
		ot_buf_append(out, row->keys[i].data, row->keys[i].size);
}

/* Rows of one guest alone are on its track. Two variables, or keys, of one text are one counter each. */
static struct cli_perfetto_track *add_track(struct cli_perfetto *p, const struct ot_buf *key,
					    const struct cli_agg *agg, const struct cli_agg_source *source,
					    const struct cli_row *row)
{
	const struct cli_symbols *symbols = &p->base.printer.symbols;
	bool of_one = source->own || symbols->nguests == 1;
	const struct cli_perfetto_track *guest =
	    of_one && symbols->nguests ? cli_perfetto_guest(p, source->guest) : NULL;
	struct cli_perfetto_descriptor d = { .parent = guest ? guest->uuid : 0, .is_counter = true };
	struct cli_perfetto_track *track = NULL;
	struct ot_buf title;

	ot_buf_init(&title);
	put_title(&title, p, agg, row);
	p->trace.failed |= title.failed;
	d.name = ot_buf_str(&title);
	if (!title.failed)
		track = cli_perfetto_add(&p->trace, key->data, key->len, &d);
	ot_buf_deinit(&title);
	return track;
}

/* Names of keys are made once, not at each aggrate. */
static struct cli_perfetto_track *row_track(struct cli_perfetto *p, const struct cli_agg *agg,
					    const struct cli_agg_source *source, const struct cli_row *row)
{
	struct cli_perfetto_track *track = NULL;
	struct ot_buf key;

	ot_buf_init(&key);
	put_key(&key, agg, source, row);
	p->trace.failed |= key.failed;
	if (!key.failed)
		track = cli_perfetto_find(&p->trace, key.data, key.len);
	if (!key.failed && !track)
		track = add_track(p, &key, agg, source, row);
	ot_buf_deinit(&key);
	return track;
}

static void put_row(struct cli_perfetto *p, const struct cli_agg *agg, const struct cli_agg_view *view,
		    size_t i, uint64_t now)
{
	struct cli_row row;

	cli_row_read(&row, &p->base.printer, view, i);
	struct cli_perfetto_track *track = row_track(p, agg, cli_agg_view_key(view, i)->source, &row);
	if (track)
		cli_perfetto_counter(&p->trace, track, now, cli_aggval_number(&row.vals[0]));
}

static void leave_out(struct cli_perfetto *p)
{
	if (!p->reported)
		cli_error("oformat=perfetto leaves out histograms: use a number, as @ = avg(…)");
	p->reported = true;
}

static struct ot_err *put_aggregation(struct cli_perfetto *p, struct cli_agg *agg, uint64_t now)
{
	const struct cli_agg_order order = { 0 };
	struct cli_agg_view view;

	if (cli_aggval_is_histogram(agg->kind)) {
		leave_out(p);
		return NULL;
	}
	OT_TRY(cli_agg_view_init(&view, &agg, 1, &order));
	for (size_t i = 0; i < view.nrows; i++)
		put_row(p, agg, &view, i, now);
	cli_agg_view_deinit(&view);
	return NULL;
}

struct ot_err *cli_perfetto_interval(struct cli_output *o, struct cli_aggs *aggs, bool last)
{
	struct cli_perfetto *p = (struct cli_perfetto *)o;
	uint64_t now = ot_now_ns();

	(void)last;
	cli_perfetto_begin(&p->trace);
	for (uint32_t i = 0; i < aggs->nvars && aggs->vars[i].name; i++)
		OT_TRY(put_aggregation(p, &aggs->vars[i], now));
	return cli_perfetto_write(&p->trace, o->printer.fp, false);
}

/* printa() shows what interval() does. */
struct ot_err *cli_perfetto_aggregation(struct cli_output *o, const struct cli_agg_view *view,
					const struct dif_format *fmt)
{
	(void)o, (void)view, (void)fmt;
	return NULL;
}
