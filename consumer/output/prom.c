/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations as Prometheus' text: a family of metrics for each variable, a series for each of its keys.
 *
 *   # TYPE outsight_reads_total counter
 *   outsight_reads_total{execname="cat",key1="3"} 17
 *
 * What breaks such a file for its reader never happens: no two families share a name, no two series their
 * labels, every text is UTF-8, and there are at most SERIES_MAX rows, or -x promseries. Names of families are
 * in prom_names.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "consumer/output/fold.h"
#include "consumer/output/keys.h"
#include "consumer/output/prom.h"
#include "consumer/output/quantize_rows.h"
#include "consumer/output/text.h"

#define SERIES_MAX 10000u

struct prom {
	struct con_output base;
	struct con_prom_names names;
	struct ot_map seen;   /* labels of the family's series → how many have them, an integer */
	struct ot_buf labels; /* of the row that is being written: `a="1",b="2"` */
	size_t room;          /* for further rows */
	uint64_t left_out, drops, faults, taken;
};

/* --- a row's labels ------------------------------------------------------------------------------------ */

static void put_escaped(struct ot_buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case '\\':
		case '"':
			ot_buf_putc(out, '\\');
			ot_buf_putc(out, text[i]);
			break;
		case '\n':
			ot_buf_puts(out, "\\n");
			break;
		default:
			ot_buf_putc(out, text[i]);
		}
}

static void put_label(struct ot_buf *out, const char *name, const char *text, size_t len)
{
	ot_buf_printf(out, "%s%s=\"", out->len ? "," : "", name);
	put_escaped(out, text, len);
	ot_buf_putc(out, '"');
}

/* The guest of these rows, if all are one guest's and no key names it. */
static void put_guest(struct prom *m, const struct con_agg_source *source, const struct con_row *row)
{
	const struct con_symbols *symbols = &m->base.printer.symbols;
	bool of_one = source->own || symbols->nguests == 1;
	const char *name = of_one && symbols->guest ? symbols->guest(symbols->arg, source->guest) : NULL;
	struct ot_buf text;

	for (uint32_t i = 0; name && i < row->nkeys; i++) {
		const char *variable = con_datum_variable(&row->keys[i]);
		if (variable && !strcmp(variable, "guest"))
			name = NULL;
	}
	if (!name)
		return;
	ot_buf_init(&text);
	ot_utf8_append(&text, name, strlen(name));
	put_label(&m->labels, "guest", ot_buf_str(&text), text.len);
	m->labels.failed |= text.failed;
	ot_buf_deinit(&text);
}

/* Different keys can have the same text: bytes that are not UTF-8, addresses without names. */
static struct ot_err *make_distinct(struct prom *m)
{
	uintptr_t n = (uintptr_t)ot_map_get(&m->seen, ot_buf_str(&m->labels), m->labels.len) + 1;
	char number[24];

	if (!ot_map_put(&m->seen, ot_buf_str(&m->labels), m->labels.len, (void *)n))
		return ot_err_nomem();
	if (n == 1)
		return NULL;
	snprintf(number, sizeof(number), "%zu", (size_t)n);
	put_label(&m->labels, "same", number, strlen(number));
	return NULL;
}

static struct ot_err *put_labels(struct prom *m, const struct con_agg_source *source,
				 const struct con_row *row)
{
	char name[CON_KEY_NAME_MAX];
	struct ot_buf text;

	ot_buf_clear(&m->labels);
	put_guest(m, source, row);
	ot_buf_init(&text);
	for (uint32_t i = 0; i < row->nkeys; i++) {
		ot_buf_clear(&text);
		con_key_name(row->keys, i, name);
		con_key_text(&text, &m->base.printer, &row->keys[i]);
		put_label(&m->labels, name, ot_buf_str(&text), text.len);
	}
	m->labels.failed |= text.failed;
	ot_buf_deinit(&text);
	return m->labels.failed ? ot_err_nomem() : make_distinct(m);
}

/* --- values -------------------------------------------------------------------------------------------- */

/* @p le: the bucket's label; NULL: none. */
static void put_sample(const struct prom *m, const char *name, const char *suffix, const char *le,
		       long long value)
{
	bool braces = m->labels.len || le;

	fprintf(m->base.printer.fp, "%s%s%s%s%s%s%s%s%s %lld\n", name, suffix, braces ? "{" : "",
		ot_buf_str(&m->labels), m->labels.len && le ? "," : "", le ? "le=\"" : "", le ? le : "",
		le ? "\"" : "", braces ? "}" : "", value);
}

/* The rows that are in use, each with all below it. D keeps no sum of a histogram's values. */
static void put_histogram(const struct prom *m, const char *name, const struct con_aggval *val)
{
	unsigned first = 1, last = 0;
	struct con_rows rows;
	int64_t upper, count;
	uint64_t total = 0;
	char le[24];

	if (con_rows_init(&rows, val))
		con_rows_visible(&rows, &rows, &first, &last);
	for (unsigned i = first; i <= last; i++) {
		count = con_rows_divided(&rows, i);
		total += count > 0 ? (uint64_t)count : 0;
		total = total > INT64_MAX ? INT64_MAX : total;
		if (!con_rows_upper(&rows, i, &upper))
			break;
		snprintf(le, sizeof(le), "%lld", (long long)upper);
		put_sample(m, name, "_bucket", le, (long long)total);
	}
	put_sample(m, name, "_bucket", "+Inf", (long long)total);
	put_sample(m, name, "_count", NULL, (long long)total);
}

/* --- families ------------------------------------------------------------------------------------------ */

static void put_head(FILE *fp, const char *name, const char *type, const char *help)
{
	fprintf(fp, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static struct ot_err *put_row(struct prom *m, const struct con_agg_view *v, size_t i, const char *name)
{
	struct con_row row;

	con_row_read(&row, &m->base.printer, v, i);
	OT_TRY(put_labels(m, con_agg_view_key(v, i)->source, &row));
	if (con_aggval_is_histogram(row.vals[0].kind))
		put_histogram(m, name, &row.vals[0]);
	else
		put_sample(m, name, "", NULL, con_aggval_number(&row.vals[0]));
	return NULL;
}

/* The smallest rows are omitted if there is no room. */
static struct ot_err *put_rows(struct prom *m, const struct con_agg_view *v, const char *name)
{
	size_t out = v->nrows > m->room ? v->nrows - m->room : 0;
	struct ot_err *err = NULL;

	ot_map_init(&m->seen);
	for (size_t i = out; i < v->nrows && !err; i++)
		err = put_row(m, v, i, name);
	ot_map_deinit(&m->seen);
	m->left_out += out;
	m->room -= v->nrows - out;
	return err;
}

static struct ot_err *put_aggregation(struct prom *m, struct con_agg *agg, uint32_t id)
{
	const struct con_agg_order order = { 0 };
	const struct con_prom_family *family;
	struct con_agg_view view;
	char help[128];

	OT_TRY(con_agg_view_init(&view, &agg, 1, &order));
	struct ot_err *err = con_prom_name(&m->names, &view, id, &family);
	if (!err) {
		snprintf(help, sizeof(help), "%s() of @%.64s.", dif_action_name(agg->kind),
			 !strcmp(agg->name, "_") ? "" : agg->name);
		put_head(m->base.printer.fp, family->name, family->type, help);
		err = put_rows(m, &view, family->name);
	}
	con_agg_view_deinit(&view);
	return err;
}

/* Readers could not use further rows, so the option can only lower the number. */
static size_t rows_max(const struct prom *m)
{
	const char *text = ot_map_gets(&m->base.printer.opts->set, "promseries");
	unsigned long long n = text ? strtoull(text, NULL, 0) : SERIES_MAX;

	return n < SERIES_MAX ? (size_t)n : SERIES_MAX;
}

static void put_own(const struct prom *m, const char *name, const char *type, const char *help,
		    uint64_t value)
{
	put_head(m->base.printer.fp, name, type, help);
	put_sample(m, name, "", NULL, (long long)value);
}

static struct ot_err *prom_interval(struct con_output *o, struct con_aggs *aggs, bool last)
{
	struct prom *m = (struct prom *)o;

	(void)last;
	m->room = rows_max(m);
	m->left_out = 0;
	for (uint32_t i = 0; i < aggs->nvars && aggs->vars[i].name; i++)
		OT_TRY(put_aggregation(m, &aggs->vars[i], i + 1));
	ot_buf_clear(&m->labels);
	put_own(m, CON_PROM_DROPS, "counter", "Data that was lost since the session began.", m->drops);
	put_own(m, CON_PROM_FAULTS, "counter", "Faults of clauses since the session began.", m->faults);
	put_own(m, CON_PROM_TAKEN, "counter", "Probes that were removed as they cost more than maxcost.",
		m->taken);
	put_own(m, CON_PROM_LEFT_OUT, "gauge", "Rows for which there was no room in this file.", m->left_out);
	return NULL;
}

/* --- what is no aggregation ---------------------------------------------------------------------------- */

static void prom_value(struct con_output *o, const struct con_datum *d)
{
	(void)o, (void)d;
}

/* printa() shows the same as interval(). */
static struct ot_err *prom_aggregation(struct con_output *o, const struct con_agg_view *view,
				       const struct dif_format *fmt)
{
	(void)o, (void)view, (void)fmt;
	return NULL;
}

static void prom_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		      unsigned nargs)
{
	(void)o, (void)fmt, (void)args, (void)nargs;
}

static void prom_drop(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	((struct prom *)o)->drops += count;
	con_text_drop(o, kind, cpu, count);
}

static void prom_fault(struct con_output *o, const struct vp_fault_info *fault, uint64_t count,
		       bool same_address)
{
	((struct prom *)o)->faults += count;
	con_text_fault(o, fault, count, same_address);
}

static void prom_overload(struct con_output *o, const struct vp_overload_info *overload)
{
	((struct prom *)o)->taken += overload->taken;
	con_text_overload(o, overload);
}

static struct ot_err *prom_end(struct con_output *o)
{
	struct prom *m = (struct prom *)o;

	con_prom_names_deinit(&m->names);
	ot_buf_deinit(&m->labels);
	return NULL;
}

const struct con_output_ops con_output_prom = {
	.format = "prom",
	.suffix = ".prom",
	.file = CON_FILE_RENEWED,
	.size = sizeof(struct prom),
	.record = con_fold_record,
	.value = prom_value,
	.text = prom_text,
	.aggregation = prom_aggregation,
	.record_end = con_fold_moment,
	.interval = prom_interval,
	.fault = prom_fault,
	.drop = prom_drop,
	.overload = prom_overload,
	.interrupted = con_fold_moment,
	.stopped = con_fold_moment,
	.end = prom_end,
	.comparison = con_text_comparison,
	.hidden = con_text_hidden,
};
