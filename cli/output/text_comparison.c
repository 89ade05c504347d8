/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of `outsight compare` as text: a table for each aggregation, the windows, what is hidden. */
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/output/quantize_rows.h"
#include "cli/output/text.h"

#define COLUMN      16
#define BAR_COLUMNS 20

/* A key's text without padding. *ret_width: columns, for ASCII. */
static char *keys_text(struct cli_printer *p, struct cli_agg_entry *e, size_t *ret_width)
{
	char *text = NULL;
	FILE *fp = p->fp;

	*ret_width = 0;
	p->fp = open_memstream(&text, ret_width);
	if (p->fp) {
		cli_text_keys(p, e);
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

static long double total(const struct cli_rows *rows)
{
	long double sum = 0;

	for (unsigned i = 0; i < rows->n; i++)
		sum += (long double)magnitude(rows->counts[i]);
	return sum;
}

static void print_bar(FILE *fp, const struct cli_rows *rows, unsigned row, long double scale)
{
	static const char bar[] = "@@@@@@@@@@@@@@@@@@@@";
	int64_t count = rows->counts[row];
	int n = scale > 0 ? (int)((long double)magnitude(count) * BAR_COLUMNS / scale + 0.5L) : 0;

	fprintf(fp, " |%-*.*s %-10lld", BAR_COLUMNS, n, bar, (long long)cli_rows_divided(rows, row));
}

/* Bars of both are on one scale, so that they can be compared. */
static void print_histograms(FILE *fp, const struct cli_aggval *outside_val,
			     const struct cli_aggval *inside_val)
{
	struct cli_rows outside, inside;
	unsigned first, last;
	char label[32];

	if (!cli_rows_init(&outside, outside_val) || !cli_rows_init(&inside, inside_val))
		return;
	long double a = total(&outside), b = total(&inside), scale = a > b ? a : b;

	cli_rows_visible(&outside, &inside, &first, &last);
	fprintf(fp, "\n%16s  %-20s %-10s  %-20s %s\n", "value", "------ outside -----", "count",
		"------ inside ------", "count");
	for (unsigned i = first; i <= last; i++) {
		cli_rows_label(&outside, i, label, sizeof(label));
		fprintf(fp, "%16s", label);
		print_bar(fp, &outside, i, scale);
		print_bar(fp, &inside, i, scale);
		putc('\n', fp);
	}
}

/* --- tables -------------------------------------------------------------------------------------------- */

static void print_row(struct cli_printer *p, const struct cli_agg_view *v, size_t row)
{
	struct cli_aggval outside = cli_agg_view_value(v, row, CLI_VIEW_OUTSIDE),
			  inside = cli_agg_view_value(v, row, CLI_VIEW_INSIDE);
	struct cli_agg_entry *key = cli_agg_view_key(v, row);
	size_t width;

	if (cli_aggval_is_histogram(outside.kind)) {
		cli_text_keys(p, key);
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
	cli_text_keys(p, key);
	fprintf(p->fp, " %*lld %*lld %+*lld\n", COLUMN, (long long)cli_aggval_number(&outside), COLUMN,
		(long long)cli_aggval_number(&inside), COLUMN, (long long)cli_comparison_difference(v, row));
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

static void print_window(const struct cli_window *w, FILE *fp)
{
	for (uint32_t i = 0; i < w->nguests; i++) {
		putc('\n', fp);
		if (w->nguests > 1)
			fprintf(fp, "guest %s:\n", w->guests[i].name);
		print_clock(&w->guests[i].clock, fp);
		print_stolen(&w->guests[i].stolen, fp);
	}
}

struct ot_err *cli_text_comparison(struct cli_output *o, const struct cli_comparison *c)
{
	struct cli_printer *p = &o->printer;

	for (uint32_t i = 0; c->tables && i < c->outside->nvars; i++) {
		struct cli_agg_view view;

		OT_TRY(cli_comparison_view(c, i, p->opts, &view));
		for (size_t row = 0; row < view.nrows && !ferror(p->fp); row++)
			print_row(p, &view, row);
		cli_agg_view_deinit(&view);
	}
	print_window(c->window, p->fp);
	return NULL;
}

/* --- hidden items -------------------------------------------------------------------------------------- */

static void print_found(const struct cli_hidden_kind *kind, const struct vp_found *f, uint32_t ways, FILE *fp)
{
	char name[VP_FOUND_NAME];

	memcpy(name, f->name, sizeof(name));
	ot_utf8_tame_string(name);
	if (kind->numbered)
		fprintf(fp, "%8llu  ", (unsigned long long)f->id);
	fprintf(fp, "%-24s", name);
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (ways & kind->ways[i].way)
			fprintf(fp, " %9s", f->ways & kind->ways[i].way ? "seen" : "-");
	putc('\n', fp);
}

struct ot_err *cli_text_hidden(struct cli_output *o, const struct cli_hidden_kind *kind,
			       const struct cli_hidden *h, uint32_t ways)
{
	FILE *fp = o->printer.fp;

	if (!h->differing.count) {
		fprintf(fp, "nothing hidden: all %s are seen in every way\n", kind->many);
		return NULL;
	}
	if (kind->numbered)
		fprintf(fp, "%8s  ", "PID");
	fprintf(fp, "%-24s", "NAME");
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (ways & kind->ways[i].way)
			fprintf(fp, " %9s", kind->ways[i].name);
	putc('\n', fp);
	for (size_t i = 0; i < h->differing.count; i++)
		print_found(kind, &h->differing.items[i], ways, fp);
	return NULL;
}
