/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two views of one program's aggregations, key by key: tables for people, JSON for machines. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/aggregate.h"
#include "cli/output/quantize_rows.h"

#define COLUMN      16
#define BAR_COLUMNS 20

/* What one key prints, without what surrounds it. *ret_width: columns, for ASCII. */
static char *keys_text(struct cli_printer *p, struct cli_agg_entry *e, size_t *ret_width)
{
	char *text = NULL;
	FILE *fp = p->fp;

	*ret_width = 0;
	p->fp = open_memstream(&text, ret_width);
	if (p->fp) {
		cli_agg_print_keys(p, e);
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

/* Rows that one of them uses, and one more on each side. */
static void visible_rows(const struct cli_rows *a, const struct cli_rows *b, unsigned *ret_first,
			 unsigned *ret_last)
{
	unsigned first = 0, last = a->n - 1;

	while (first < a->n && !a->counts[first] && !b->counts[first])
		first++;
	if (first == a->n) {
		*ret_first = a->empty_first;
		*ret_last = a->empty_last;
		return;
	}
	while (!a->counts[last] && !b->counts[last])
		last--;
	*ret_first = first ? first - 1 : 0;
	*ret_last = last + 1 < a->n ? last + 1 : last;
}

/* A divisor of -1 would trap. */
static long long divided(int64_t count, uint64_t normal)
{
	if (normal == UINT64_MAX)
		return (long long)-(uint64_t)count;
	return count / (int64_t)(normal ? normal : 1);
}

static void print_bar(FILE *fp, const struct cli_rows *rows, unsigned row, long double scale, uint64_t normal)
{
	static const char bar[] = "@@@@@@@@@@@@@@@@@@@@";
	int64_t count = rows->counts[row];
	int n = scale > 0 ? (int)((long double)magnitude(count) * BAR_COLUMNS / scale + 0.5L) : 0;

	fprintf(fp, " |%-*.*s %-10lld", BAR_COLUMNS, n, bar, divided(count, normal));
}

/* Bars of both are on one scale, so that they can be compared. */
static void print_histograms(FILE *fp, const struct cli_agg_pair *pair)
{
	struct cli_rows outside, inside;
	unsigned first, last;
	char label[32];

	if (!cli_rows_init(&outside, &pair->outside) || !cli_rows_init(&inside, &pair->inside))
		return;
	long double a = total(&outside), b = total(&inside), scale = a > b ? a : b;

	visible_rows(&outside, &inside, &first, &last);
	fprintf(fp, "\n%16s  %-20s %-10s  %-20s %s\n", "value", "------ outside -----", "count",
		"------ inside ------", "count");
	for (unsigned i = first; i <= last; i++) {
		cli_rows_label(&outside, i, label, sizeof(label));
		fprintf(fp, "%16s", label);
		print_bar(fp, &outside, i, scale, pair->outside.normal);
		print_bar(fp, &inside, i, scale, pair->inside.normal);
		putc('\n', fp);
	}
}

/* --- tables -------------------------------------------------------------------------------------------- */

static int64_t difference(const struct cli_agg_pair *pair)
{
	return (int64_t)((uint64_t)cli_aggval_number(&pair->inside) -
			 (uint64_t)cli_aggval_number(&pair->outside));
}

static void print_pair(void *arg, const struct cli_agg_pair *pair)
{
	struct cli_printer *p = arg;
	size_t width;

	if (cli_aggval_is_histogram(pair->outside.kind)) {
		cli_agg_print_keys(p, pair->key);
		print_histograms(p->fp, pair);
		putc('\n', p->fp);
		return;
	}
	/* The keys' columns are as wide as what stands in them: headings end where values do. */
	if (!pair->row) {
		free(keys_text(p, pair->key, &width));
		fprintf(p->fp, "%*s %*s %*s %*s\n", (int)width, "", COLUMN, "outside", COLUMN, "inside",
			COLUMN, "difference");
	}
	cli_agg_print_keys(p, pair->key);
	fprintf(p->fp, " %*lld %*lld %+*lld\n", COLUMN, (long long)cli_aggval_number(&pair->outside), COLUMN,
		(long long)cli_aggval_number(&pair->inside), COLUMN, (long long)difference(pair));
}

struct ot_err *cli_print_comparison(struct cli_printer *p, struct cli_aggs *outside, struct cli_aggs *inside)
{
	return cli_aggs_each_pair(p, outside, inside, print_pair, p);
}

/* --- JSON ------------------------------------------------------------------------------------------------
 */

struct json {
	struct cli_printer *p;
	const struct dif_program *prog;
	struct ot_json *out;
	bool failed; /* for want of memory */
};

/* What a table shows of a key, without its padding; *ret is the caller's, NULL without memory. */
static char *shown_key(struct json *j, const struct cli_datum *d)
{
	char *text = NULL, *from, *end;
	size_t len = 0;
	FILE *fp = j->p->fp;

	j->p->fp = open_memstream(&text, &len);
	if (j->p->fp) {
		cli_print_datum(j->p, d, CLI_WIDTH_KEY);
		fclose(j->p->fp);
	}
	j->p->fp = fp;
	if (!text)
		return NULL;
	for (from = text; isspace((unsigned char)*from); from++)
		;
	for (end = from + strlen(from); end > from && isspace((unsigned char)end[-1]); end--)
		end[-1] = 0;
	memmove(text, from, strlen(from) + 1);
	return text;
}

static bool is_string(const struct cli_datum *d)
{
	return d->action->kind == DIF_ACT_difexpr && d->action->object &&
	       d->action->object->ret.kind == DIF_TYPE_STRING;
}

static bool is_integer(const struct cli_datum *d)
{
	return d->action->kind == DIF_ACT_difexpr &&
	       (d->size == 1 || d->size == 2 || d->size == 4 || d->size == 8);
}

/* Strings as they are, numbers as numbers, all else as a table shows it. */
static void json_key(struct json *j, struct cli_agg_entry *e, uint32_t i)
{
	struct cli_datum d = cli_agg_key(e, i);

	if (is_string(&d)) {
		ot_json_text(j->out, d.data, strnlen((const char *)d.data, d.size));
	} else if (is_integer(&d)) {
		ot_json_int(j->out, cli_load_integer(d.data, d.size));
	} else {
		char *text = shown_key(j, &d);

		j->failed |= !text;
		ot_json_string(j->out, text ? text : "");
		free(text);
	}
}

static void json_value(struct ot_json *out, const struct cli_aggval *val)
{
	struct cli_rows rows;
	char label[32];

	if (!cli_aggval_is_histogram(val->kind)) {
		ot_json_int(out, cli_aggval_number(val));
		return;
	}
	ot_json_object(out, OT_JSON_INLINE);
	for (unsigned i = 0; cli_rows_init(&rows, val) && i < rows.n; i++) {
		if (!rows.counts[i])
			continue;
		cli_rows_label(&rows, i, label, sizeof(label));
		ot_json_key(out, label);
		ot_json_int(out, divided(rows.counts[i], val->normal));
	}
	ot_json_end(out);
}

static const char *name_of(const struct dif_program *prog, uint32_t id)
{
	for (uint32_t i = 0; i < prog->naggs; i++)
		if (prog->aggs[i].id == id)
			return prog->aggs[i].name;
	return "";
}

static void json_pair(void *arg, const struct cli_agg_pair *pair)
{
	struct json *j = arg;

	ot_json_object(j->out, OT_JSON_INLINE);
	ot_json_key(j->out, "aggregation");
	ot_json_string(j->out, name_of(j->prog, pair->id));
	ot_json_key(j->out, "keys");
	ot_json_array(j->out, OT_JSON_INLINE);
	j->p->guest = pair->key->source->guest;
	for (uint32_t i = 0; i < pair->key->source->layout->nkeys; i++)
		json_key(j, pair->key, i);
	ot_json_end(j->out);
	ot_json_key(j->out, "outside");
	json_value(j->out, &pair->outside);
	ot_json_key(j->out, "inside");
	json_value(j->out, &pair->inside);
	if (!cli_aggval_is_histogram(pair->outside.kind)) {
		ot_json_key(j->out, "difference");
		ot_json_int(j->out, difference(pair));
	}
	ot_json_end(j->out);
}

struct ot_err *cli_json_comparison(struct cli_printer *p, const struct dif_program *prog,
				   struct cli_aggs *outside, struct cli_aggs *inside, struct ot_json *out)
{
	struct json j = { .p = p, .prog = prog, .out = out };

	ot_json_array(out, OT_JSON_LINES);
	OT_TRY(cli_aggs_each_pair(p, outside, inside, json_pair, &j));
	ot_json_end(out);
	return j.failed ? ot_err_nomem() : NULL;
}
