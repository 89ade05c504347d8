/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms in full. Each kind is first turned into rows (label, count), then printed the same way. */
#include <stdlib.h>
#include <string.h>

#include "consumer/output/print_quantize.h"
#include "consumer/output/quantize_rows.h"
#include "dif/vm/agg.h"

#define BAR_COLUMNS 40
/* aggzoom: the tallest bar takes this part of the width. */
#define ZOOM_MAX    0.95L

static void scale_total(const struct con_printer *p, struct con_scale *scale, int64_t count)
{
	long double height = count < 0 ? -(long double)count : (long double)count;

	scale->positives |= count > 0;
	scale->negatives |= count < 0;
	if (!p->opts->aggzoom)
		scale->total += height;
	else if (scale->total < height / ZOOM_MAX)
		scale->total = height / ZOOM_MAX;
}

static void put_code_point(FILE *fp, unsigned c)
{
	putc(0xe0 | c >> 12, fp);
	putc(0x80 | (c >> 6 & 0x3f), fp);
	putc(0x80 | (c & 0x3f), fp);
}

static void repeat(FILE *fp, char c, unsigned n)
{
	while (n--)
		putc(c, fp);
}

static long double bar_length(int64_t count, const struct con_scale *scale, unsigned columns)
{
	long double height = count < 0 ? -(long double)count : (long double)count;
	long double length = scale->total > 0 ? height * columns / scale->total : 0;

	return length > columns ? columns : length;
}

/* Eighths of a column: U+2588 is full, U+2589 … U+258F are 7/8 down to 1/8. */
static void print_bar_utf8(FILE *fp, long double length)
{
	unsigned whole = (unsigned)length, eighths = (unsigned)((length - whole) * 8), used = whole;

	putc('|', fp);
	for (unsigned i = 0; i < whole; i++)
		put_code_point(fp, 0x2588);
	if (eighths) {
		put_code_point(fp, 0x2590 - eighths);
		used++;
	}
	repeat(fp, ' ', BAR_COLUMNS - used);
}

/* A bar in 40 columns and its axis: to the right of it, to the left, or in the middle. */
static void print_bar(struct con_printer *p, int64_t count, const struct con_scale *scale)
{
	bool both = scale->positives && scale->negatives;
	unsigned columns = both ? BAR_COLUMNS / 2 : BAR_COLUMNS;
	long double length = bar_length(count, scale, columns);
	unsigned n = (unsigned)(length + 0.5L);
	bool leftwards = both ? count <= 0 : scale->negatives;
	FILE *fp = p->fp;

	if (!scale->negatives && scale->positives && p->opts->encoding_set && p->opts->encoding_utf8) {
		print_bar_utf8(fp, length);
		return;
	}
	if (leftwards) {
		repeat(fp, ' ', columns - n);
		repeat(fp, '@', n);
		putc('|', fp);
		repeat(fp, ' ', both ? columns : 0);
	} else {
		repeat(fp, ' ', both ? columns : 0);
		putc('|', fp);
		repeat(fp, '@', n);
		repeat(fp, ' ', columns - n);
	}
}

void con_print_bar_heading(struct con_printer *p, int width)
{
	fprintf(p->fp, "\n%*s %41s %-9s\n", width, "key", "------------- Distribution -------------",
		"count");
}

void con_print_histogram(struct con_printer *p, const struct con_aggval *val)
{
	struct con_scale scale = { 0 };
	struct con_rows rows;
	unsigned first, last;
	char label[32];

	if (!con_rows_init(&rows, val))
		return;
	con_rows_visible(&rows, &rows, &first, &last);
	for (unsigned i = first; i <= last; i++)
		scale_total(p, &scale, rows.counts[i]);
	fprintf(p->fp, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------", "count");
	for (unsigned i = first; i <= last; i++) {
		con_rows_label(&rows, i, label, sizeof(label));
		fprintf(p->fp, "%16s ", label);
		print_bar(p, rows.counts[i], &scale);
		fprintf(p->fp, " %-9lld\n", (long long)con_rows_divided(&rows, i));
	}
}

void con_scale_add(const struct con_printer *p, struct con_scale *scale, const struct con_aggval *val)
{
	if (val->kind == DIF_AGG_count || val->kind == DIF_AGG_sum) {
		scale_total(p, scale, (int64_t)val->words[0]);
		/* dtrace keeps this sum as an integer: a zoomed bar of small counts is longer than ZOOM_MAX
		 */
		scale->total = (long double)(unsigned __int128)scale->total;
		return;
	}
	if (val->kind == DIF_AGG_lquantize) { /* always in its whole range */
		scale->min_bucket = 0;
		scale->max_bucket = dif_agg_words(val->kind, val->arg) - 2;
	}
	if (val->kind != DIF_AGG_quantize)
		return;
	for (unsigned i = 0; i < CON_QUANTIZE_BUCKETS; i++) {
		if (!val->words[i])
			continue;
		if (i < scale->min_bucket)
			scale->min_bucket = i;
		if (i > scale->max_bucket)
			scale->max_bucket = i;
	}
}

void con_print_bar(struct con_printer *p, const struct con_aggval *val, const struct con_scale *scale)
{
	int64_t n = (int64_t)val->words[0];

	putc(' ', p->fp);
	print_bar(p, n, scale);
	fprintf(p->fp, " %-9lld\n", (long long)(n / (int64_t)val->normal));
}

/* --- aggpack ------------------------------------------------------------------ */

/* Buckets of a packed quantize: those in use of all entries, and one more on each side (none below 0). */
static void packed_range(const struct con_scale *scale, unsigned *ret_first, unsigned *ret_last)
{
	unsigned first = scale->min_bucket, last = scale->max_bucket;

	if (first > last)
		first = last = CON_QUANTIZE_ZERO;
	if (first && first != CON_QUANTIZE_ZERO)
		first--;
	if (last < CON_QUANTIZE_BUCKETS - 1)
		last++;
	*ret_first = first;
	*ret_last = last;
}

/* The width of the column of an end of the range. */
static int end_width(int64_t n)
{
	char text[32];
	int digits = snprintf(text, sizeof(text), "%lld", (long long)n);

	return digits < 4 ? 4 : digits;
}

void con_print_packed_heading(struct con_printer *p, int width, enum dif_agg_kind kind,
			      const struct con_scale *scale)
{
	unsigned first, last;
	int min_width = 7, max_width = 8;

	if (kind == DIF_AGG_quantize) {
		packed_range(scale, &first, &last);
		min_width = end_width(dif_quantize_bucket_value(first));
		max_width = end_width(dif_quantize_bucket_value(last));
	} else {
		first = 0;
		last = scale->max_bucket;
	}
	fprintf(p->fp, "\n%*s %*s .", width, width > 0 ? "key" : "", min_width, "min");
	repeat(p->fp, '-', last - first + 1);
	fprintf(p->fp, ". %*s | count\n", -max_width, "max");
}

static bool packs_utf8(const struct con_printer *p)
{
	const char *term = getenv("TERM");

	if (p->opts->encoding_set)
		return p->opts->encoding_utf8;
	return !term ||
	       (strcmp(term, "sun") != 0 && strcmp(term, "sun-color") != 0 && strcmp(term, "dumb") != 0);
}

static void print_packed_bucket(struct con_printer *p, int64_t count, long double total)
{
	static const char up[] = "__xxxxXX", down[] = "vvvvVV";
	long double part = total > 0 ? (long double)count / total : 0;

	if (!count)
		putc(' ', p->fp);
	else if (count < 0)
		putc(down[(unsigned)(-part * (sizeof(down) - 2) + 0.5L)], p->fp);
	else if (packs_utf8(p))
		put_code_point(p->fp, 0x2581 + (unsigned)(part * 7 + 0.5L));
	else
		putc(up[(unsigned)(part * (sizeof(up) - 2) + 0.5L)], p->fp);
}

void con_print_packed(struct con_printer *p, const struct con_aggval *val, const struct con_scale *range)
{
	struct con_scale scale = { 0 };
	struct con_rows rows;
	unsigned first = 0, last;
	long double sum = 0;
	char low[32], high[32];
	bool quantize = val->kind == DIF_AGG_quantize;

	if (!con_rows_init(&rows, val))
		return;
	last = rows.n - 1;
	if (quantize)
		packed_range(range, &first, &last);
	for (unsigned i = first; i <= last; i++) {
		scale_total(p, &scale, rows.counts[i]);
		sum += (long double)rows.counts[i];
	}
	con_rows_label(&rows, first, low, sizeof(low));
	con_rows_label(&rows, last, high, sizeof(high));
	if (quantize)
		putc(' ', p->fp);
	fprintf(p->fp, "%*s :", quantize ? end_width(dif_quantize_bucket_value(first)) : 8, low);
	for (unsigned i = first; i <= last; i++)
		print_packed_bucket(p, rows.counts[i], scale.total);
	fprintf(p->fp, ": %-*s | %lld\n", quantize ? end_width(dif_quantize_bucket_value(last)) : 8, high,
		(long long)sum);
}
