/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations as text: the default table, bars and packed lines, and printa() by a format. */
#include <limits.h>

#include "cli/output/print_quantize.h"
#include "cli/output/text.h"

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

void cli_text_keys(struct cli_printer *p, struct cli_agg_entry *e)
{
	struct table plain = { .p = p };

	print_keys(&plain, e);
}

/* The default form of one aggregation. Bars are on the scale of all its entries, shown or not. */
static void print_table(struct cli_printer *p, const struct cli_agg_view *v)
{
	const struct cli_agg *agg = v->columns[0];
	struct table t;

	table_init(&t, p, agg);
	if (v->nrows)
		table_heading(&t, agg);
	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		struct cli_aggval val = cli_agg_view_value(v, i, 0);
		print_keys(&t, cli_agg_view_key(v, i));
		print_value(&t, &val);
		if (t.style == STYLE_PLAIN)
			putc('\n', p->fp);
	}
}

/* Several aggregations: plain columns. */
static void print_columns(struct cli_printer *p, const struct cli_agg_view *v)
{
	struct table plain = { .p = p };

	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		print_keys(&plain, cli_agg_view_key(v, i));
		for (unsigned k = 0; k < v->ncolumns; k++) {
			struct cli_aggval val = cli_agg_view_value(v, i, k);
			print_value(&plain, &val);
		}
		putc('\n', p->fp);
	}
}

void cli_row_read(struct cli_row *ret, struct cli_printer *p, const struct cli_agg_view *v, size_t row)
{
	struct cli_agg_entry *e = cli_agg_view_key(v, row);

	p->guest = e->source->guest;
	ret->nkeys = e->source->layout->nkeys < CLI_ROW_KEYS ? e->source->layout->nkeys : CLI_ROW_KEYS;
	for (uint32_t i = 0; i < ret->nkeys; i++)
		ret->keys[i] = cli_agg_key(e, i);
	for (unsigned i = 0; i < v->ncolumns; i++)
		ret->vals[i] = cli_agg_view_value(v, row, i);
}

static void print_formatted(struct cli_printer *p, const struct cli_agg_view *v, const struct dif_format *fmt)
{
	struct cli_row row;

	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		cli_row_read(&row, p, v, i);
		cli_print_format(p, fmt, row.keys, row.nkeys, row.vals, v->ncolumns);
	}
}

struct ot_err *cli_text_aggregation(struct cli_output *o, const struct cli_agg_view *v,
				    const struct dif_format *fmt)
{
	struct cli_printer *p = &o->printer;

	if (!fmt && !v->rest)
		putc('\n', p->fp);
	if (fmt)
		print_formatted(p, v, fmt);
	else if (v->ncolumns == 1)
		print_table(p, v);
	else
		print_columns(p, v);
	return NULL;
}
