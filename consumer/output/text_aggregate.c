/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations as text: the default table, bars and packed lines, and printa() by a format. */
#include <limits.h>

#include "consumer/output/print_quantize.h"
#include "consumer/output/text.h"

/* The form of the entries of one aggregation. */
enum style { STYLE_PLAIN, STYLE_HIST, STYLE_PACK };

struct table {
	struct con_printer *p;
	enum style style;
	struct con_scale scale;
};

static enum style style_of(const struct con_printer *p, enum dif_agg_kind kind)
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

static void table_init(struct table *t, struct con_printer *p, const struct con_agg *agg)
{
	*t = (struct table){ .p = p, .style = style_of(p, agg->kind), .scale.min_bucket = UINT_MAX };
	if (t->style == STYLE_PLAIN)
		return;
	for (size_t i = 0; i < agg->count; i++) {
		struct con_aggval val = con_agg_value(agg, agg->entries[i]);
		con_scale_add(p, &t->scale, &val);
	}
}

static void table_heading(struct table *t, const struct con_agg *agg)
{
	const struct dif_agg_layout *l;
	int width = 0;

	if (t->style == STYLE_PLAIN)
		return;
	l = agg->entries[0]->source->layout;
	for (uint32_t i = 0; i < l->nkeys; i++)
		width += packed_columns(l->keys[i].size) + 1;
	if (t->style == STYLE_HIST)
		con_print_bar_heading(t->p, width);
	else
		con_print_packed_heading(t->p, width, agg->kind, &t->scale);
}

static void print_keys(struct table *t, struct con_agg_entry *e)
{
	t->p->guest = e->source->guest;
	for (uint32_t i = 0; i < e->source->layout->nkeys; i++) {
		struct con_datum d = con_agg_key(e, i);
		con_print_datum(t->p, &d, t->style == STYLE_PLAIN ? CON_WIDTH_KEY : CON_WIDTH_PACKED);
	}
}

static void print_value(struct table *t, const struct con_aggval *val)
{
	if (t->style == STYLE_HIST)
		con_print_bar(t->p, val, &t->scale);
	else if (t->style == STYLE_PACK)
		con_print_packed(t->p, val, &t->scale);
	else if (con_aggval_is_histogram(val->kind))
		con_print_histogram(t->p, val);
	else if (val->kind == DIF_AGG_stddev)
		fprintf(t->p->fp, " %16llu", (unsigned long long)con_aggval_number(val));
	else
		fprintf(t->p->fp, " %16lld", (long long)con_aggval_number(val));
}

void con_text_keys(struct con_printer *p, struct con_agg_entry *e)
{
	struct table plain = { .p = p };

	print_keys(&plain, e);
}

/* The default form of one aggregation. Bars are on the scale of all its entries, shown or not. */
static void print_table(struct con_printer *p, const struct con_agg_view *v)
{
	const struct con_agg *agg = v->columns[0];
	struct table t;

	table_init(&t, p, agg);
	if (v->nrows)
		table_heading(&t, agg);
	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		struct con_aggval val = con_agg_view_value(v, i, 0);
		print_keys(&t, con_agg_view_key(v, i));
		print_value(&t, &val);
		if (t.style == STYLE_PLAIN)
			putc('\n', p->fp);
	}
}

/* Several aggregations: plain columns. */
static void print_columns(struct con_printer *p, const struct con_agg_view *v)
{
	struct table plain = { .p = p };

	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		print_keys(&plain, con_agg_view_key(v, i));
		for (unsigned k = 0; k < v->ncolumns; k++) {
			struct con_aggval val = con_agg_view_value(v, i, k);
			print_value(&plain, &val);
		}
		putc('\n', p->fp);
	}
}

void con_row_read(struct con_row *ret, struct con_printer *p, const struct con_agg_view *v, size_t row)
{
	struct con_agg_entry *e = con_agg_view_key(v, row);

	p->guest = e->source->guest;
	ret->nkeys = e->source->layout->nkeys < CON_ROW_KEYS ? e->source->layout->nkeys : CON_ROW_KEYS;
	for (uint32_t i = 0; i < ret->nkeys; i++)
		ret->keys[i] = con_agg_key(e, i);
	for (unsigned i = 0; i < v->ncolumns; i++)
		ret->vals[i] = con_agg_view_value(v, row, i);
}

static void print_formatted(struct con_printer *p, const struct con_agg_view *v, const struct dif_format *fmt)
{
	struct con_row row;

	for (size_t i = 0; i < v->nrows && !ferror(p->fp); i++) {
		con_row_read(&row, p, v, i);
		con_print_format(p, fmt, row.keys, row.nkeys, row.vals, v->ncolumns);
	}
}

struct ot_err *con_text_aggregation(struct con_output *o, const struct con_agg_view *v,
				    const struct dif_format *fmt)
{
	struct con_printer *p = &o->printer;

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
