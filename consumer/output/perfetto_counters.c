/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations as Perfetto's counters: one for each key, with a value at each aggrate at which it differs. */
#include "base/clock.h"
#include "consumer/output/keys.h"
#include "consumer/output/perfetto.h"

/* Rows of a single guest are on its track. Variables or keys with the same text are one counter each. */
static struct con_perfetto_track *add_track(struct con_perfetto *p, const struct ot_buf *key,
					    const struct con_agg *agg, const struct con_agg_source *source,
					    const struct con_row *row)
{
	const struct con_symbols *symbols = &p->base.printer.symbols;
	bool of_one = source->own || symbols->nguests == 1;
	const struct con_perfetto_track *guest =
	    of_one && symbols->nguests ? con_perfetto_guest(p, source->guest) : NULL;
	struct con_perfetto_descriptor d = { .parent = guest ? guest->uuid : 0, .is_counter = true };
	struct con_perfetto_track *track = NULL;
	struct ot_buf title;

	ot_buf_init(&title);
	con_key_title(&title, &p->base.printer, agg, row);
	p->trace.failed |= title.failed;
	d.name = ot_buf_str(&title);
	if (!title.failed)
		track = con_perfetto_add(&p->trace, key->data, key->len, &d);
	ot_buf_deinit(&title);
	return track;
}

/* Names of keys are built once, not at each aggrate. */
static struct con_perfetto_track *row_track(struct con_perfetto *p, const struct con_agg *agg,
					    const struct con_agg_source *source, const struct con_row *row)
{
	struct con_perfetto_track *track = NULL;
	struct ot_buf key;

	ot_buf_init(&key);
	con_key_identity(&key, agg, source, row);
	p->trace.failed |= key.failed;
	if (!key.failed)
		track = con_perfetto_find(&p->trace, key.data, key.len);
	if (!key.failed && !track)
		track = add_track(p, &key, agg, source, row);
	ot_buf_deinit(&key);
	return track;
}

static void put_row(struct con_perfetto *p, const struct con_agg *agg, const struct con_agg_view *view,
		    size_t i, uint64_t now)
{
	struct con_row row;

	con_row_read(&row, &p->base.printer, view, i);
	struct con_perfetto_track *track = row_track(p, agg, con_agg_view_key(view, i)->source, &row);
	if (track)
		con_perfetto_counter(&p->trace, track, now, con_aggval_number(&row.vals[0]));
}

static void leave_out(struct con_perfetto *p)
{
	if (!p->reported)
		con_error("oformat=perfetto leaves out histograms: use a number, as @ = avg(…)");
	p->reported = true;
}

static struct ot_err *put_aggregation(struct con_perfetto *p, struct con_agg *agg, uint64_t now)
{
	const struct con_agg_order order = { 0 };
	struct con_agg_view view;

	if (con_aggval_is_histogram(agg->kind)) {
		leave_out(p);
		return NULL;
	}
	OT_TRY(con_agg_view_init(&view, &agg, 1, &order));
	for (size_t i = 0; i < view.nrows; i++)
		put_row(p, agg, &view, i, now);
	con_agg_view_deinit(&view);
	return NULL;
}

struct ot_err *con_perfetto_interval(struct con_output *o, struct con_aggs *aggs, bool last)
{
	struct con_perfetto *p = (struct con_perfetto *)o;
	uint64_t now = ot_now_ns();

	(void)last;
	con_perfetto_begin(&p->trace);
	for (uint32_t i = 0; i < aggs->nvars && aggs->vars[i].name; i++)
		OT_TRY(put_aggregation(p, &aggs->vars[i], now));
	return con_perfetto_write(&p->trace, o->printer.fp, false);
}

/* printa() shows the same as interval(). */
struct ot_err *con_perfetto_aggregation(struct con_output *o, const struct con_agg_view *view,
					const struct dif_format *fmt)
{
	(void)o, (void)view, (void)fmt;
	return NULL;
}
