/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of `outsight compare` as text: a table for each aggregation, the windows, hidden objects. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "consumer/output/quantize_rows.h"
#include "consumer/output/text.h"

#define COLUMN      16
#define BAR_COLUMNS 20

/* A key's text without padding. *ret_width: columns, for ASCII. */
static char *keys_text(struct con_printer *p, struct con_agg_entry *e, size_t *ret_width)
{
	char *text = NULL;
	FILE *fp = p->fp;

	*ret_width = 0;
	p->fp = open_memstream(&text, ret_width);
	if (p->fp) {
		con_text_keys(p, e);
		fclose(p->fp);
	}
	p->fp = fp;
	return text;
}

/* --- histograms -------------------------------------------------------------------------------------- */

static uint64_t magnitude(int64_t n)
{
	return n < 0 ? -(uint64_t)n : (uint64_t)n;
}

static long double total(const struct con_rows *rows)
{
	long double sum = 0;

	for (unsigned i = 0; i < rows->n; i++)
		sum += (long double)magnitude(rows->counts[i]);
	return sum;
}

static void print_bar(FILE *fp, const struct con_rows *rows, unsigned row, long double scale)
{
	static const char bar[] = "@@@@@@@@@@@@@@@@@@@@";
	int64_t count = rows->counts[row];
	int n = scale > 0 ? (int)((long double)magnitude(count) * BAR_COLUMNS / scale + 0.5L) : 0;

	fprintf(fp, " |%-*.*s %-10lld", BAR_COLUMNS, n, bar, (long long)con_rows_divided(rows, row));
}

/* Bars of both are on one scale, so that they can be compared. */
static void print_histograms(FILE *fp, const struct con_aggval *outside_val,
			     const struct con_aggval *inside_val)
{
	struct con_rows outside, inside;
	unsigned first, last;
	char label[32];

	if (!con_rows_init(&outside, outside_val) || !con_rows_init(&inside, inside_val))
		return;
	long double a = total(&outside), b = total(&inside), scale = a > b ? a : b;

	con_rows_visible(&outside, &inside, &first, &last);
	fprintf(fp, "\n%16s  %-20s %-10s  %-20s %s\n", "value", "------ outside -----", "count",
		"------ inside ------", "count");
	for (unsigned i = first; i <= last; i++) {
		con_rows_label(&outside, i, label, sizeof(label));
		fprintf(fp, "%16s", label);
		print_bar(fp, &outside, i, scale);
		print_bar(fp, &inside, i, scale);
		putc('\n', fp);
	}
}

/* --- tables -------------------------------------------------------------------------------------------- */

static void print_row(struct con_printer *p, const struct con_agg_view *v, size_t row)
{
	struct con_aggval outside = con_agg_view_value(v, row, CON_VIEW_OUTSIDE),
			  inside = con_agg_view_value(v, row, CON_VIEW_INSIDE);
	struct con_agg_entry *key = con_agg_view_key(v, row);
	size_t width;

	if (con_aggval_is_histogram(outside.kind)) {
		con_text_keys(p, key);
		print_histograms(p->fp, &outside, &inside);
		putc('\n', p->fp);
		return;
	}
	/* The keys' columns are as wide as their widest text; headings end at the columns of the values. */
	if (!row) {
		free(keys_text(p, key, &width));
		fprintf(p->fp, "%*s %*s %*s %*s\n", (int)width, "", COLUMN, "outside", COLUMN, "inside",
			COLUMN, "difference");
	}
	con_text_keys(p, key);
	fprintf(p->fp, " %*lld %*lld %+*lld\n", COLUMN, (long long)con_aggval_number(&outside), COLUMN,
		(long long)con_aggval_number(&inside), COLUMN, (long long)con_comparison_difference(v, row));
}

/* --- the window ---------------------------------------------------------------------------------------- */

static void print_clock(const struct vp_clock_mark *m, FILE *fp)
{
	if (!m->bound_ns) {
		fputs("nothing was timed inside\n", fp);
		return;
	}
	fprintf(fp, "times inside are exact to %llu ns\n", (unsigned long long)m->bound_ns);
	fprintf(fp,
		"clocks: the guest's counter stood at %llu when the host's clock stood at %llu.%09llu s\n",
		(unsigned long long)m->tsc, (unsigned long long)(m->ns / 1000000000),
		(unsigned long long)(m->ns % 1000000000));
}

static void print_stolen(const struct vp_stolen *t, FILE *fp)
{
	fputs("stolen, as the guest counts it:", fp);
	for (uint32_t i = 0; t->by_guest && i < t->nvcpus; i++)
		fprintf(fp, "%s vCPU %u %.3f ms", i ? "," : "", i, (double)t->vcpu_ns[i] / 1e6);
	fputs(t->by_guest ? "\n" : " unknown, its hypervisor doesn't report it\n", fp);
	if (t->by_host)
		fprintf(
		    fp,
		    "stolen, as the host counts it: threads of the VMM waited %.3f ms for a CPU, in %.3f s\n",
		    (double)t->host_ns / 1e6, (double)t->at_ns / 1e9);
}

static void print_window(const struct con_window *w, FILE *fp)
{
	for (uint32_t i = 0; i < w->nguests; i++) {
		putc('\n', fp);
		if (w->nguests > 1)
			fprintf(fp, "guest %s:\n", w->guests[i].name);
		print_clock(&w->guests[i].clock, fp);
		print_stolen(&w->guests[i].stolen, fp);
	}
}

struct ot_err *con_text_comparison(struct con_output *o, const struct con_comparison *c)
{
	struct con_printer *p = &o->printer;

	for (uint32_t i = 0; c->tables && i < c->outside->nvars; i++) {
		struct con_agg_view view;

		OT_TRY(con_comparison_view(c, i, p->opts, &view));
		for (size_t row = 0; row < view.nrows && !ferror(p->fp); row++)
			print_row(p, &view, row);
		con_agg_view_deinit(&view);
	}
	print_window(c->window, p->fp);
	return NULL;
}

/* --- hidden items -------------------------------------------------------------------------------------- */

#define NAME_COLUMNS     24
#define NAME_COLUMNS_MAX 80

/* A name as it is printed; control sequences of the guest's bytes are replaced. */
static void put_name(const char *name, struct ot_buf *out)
{
	ot_buf_clear(out);
	ot_buf_puts(out, name);
	if (out->data)
		ot_utf8_tame_string(out->data);
}

static int name_columns(const struct vp_census *differing)
{
	size_t most = NAME_COLUMNS;

	for (size_t i = 0; i < differing->count; i++) {
		size_t len = strlen(differing->items[i].name);

		if (len > most)
			most = len;
	}
	return (int)(most < NAME_COLUMNS_MAX ? most : NAME_COLUMNS_MAX);
}

static void print_found(const struct con_hidden_kind *kind, const struct vp_found *f, uint32_t ways,
			int columns, FILE *fp)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };

	put_name(f->name, &text);
	if (kind->numbered)
		fprintf(fp, "%8llu  ", (unsigned long long)f->id);
	fprintf(fp, "%-*s", columns, ot_buf_str(&text));
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (ways & kind->ways[i].way)
			fprintf(fp, " %9s", f->ways & kind->ways[i].way ? "seen" : "-");
	ot_buf_clear(&text);
	con_hidden_meaning(kind, f, ways, &text);
	fprintf(fp, "\n%10s%s\n", "", ot_buf_str(&text));
}

static void print_heading(const struct con_hidden_kind *kind, uint32_t ways, int columns, FILE *fp)
{
	if (kind->numbered)
		fprintf(fp, "%8s  ", "PID");
	fprintf(fp, "%-*s", columns, "NAME");
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (ways & kind->ways[i].way)
			fprintf(fp, " %9s", kind->ways[i].name);
	putc('\n', fp);
}

static void print_change(const struct con_hidden *h, FILE *fp)
{
	time_t seconds = (time_t)(h->time_ns / 1000000000);
	char clock[32];
	struct tm tm;

	localtime_r(&seconds, &tm);
	strftime(clock, sizeof(clock), "%H:%M:%S", &tm);
	fprintf(fp, "\n%s %s:\n", clock, h->change == CON_HIDDEN_NEW ? "new" : "gone");
}

struct ot_err *con_text_hidden(struct con_output *o, const struct con_hidden_kind *kind,
			       const struct con_hidden *h, uint32_t ways)
{
	int columns = name_columns(&h->differing);
	FILE *fp = o->printer.fp;

	if (h->change != CON_HIDDEN_IS)
		print_change(h, fp);
	if (!h->differing.count) {
		fprintf(fp, "nothing hidden: all %s are seen in every way\n", kind->many);
		return NULL;
	}
	print_heading(kind, ways, columns, fp);
	for (size_t i = 0; i < h->differing.count; i++)
		print_found(kind, &h->differing.items[i], ways, columns, fp);
	return NULL;
}
