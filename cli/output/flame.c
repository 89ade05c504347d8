/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph: one HTML file that needs nothing else (flame.html), with the rows of fold.h as JSON in it. A
 * row is [frames, how many are keys, how many a process's, value]. Names are the guest's: they stand in JSON
 * strings without a '<', and the page shows them as text.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "cli/output/flame_page.h"
#include "cli/output/fold.h"

#define ROWS "@ROWS@"

struct flame {
	struct cli_fold fold;
	FILE *fp; /* in memory: the rows */
	char *rows;
	size_t len;
	struct ot_json json;
	bool ended;
};

static struct ot_err *begin(struct flame *f)
{
	if (f->fp)
		return NULL;
	f->fp = open_memstream(&f->rows, &f->len);
	if (!f->fp)
		return ot_err_os(errno, "collecting stacks");
	ot_json_init(&f->json, f->fp);
	ot_json_array(&f->json, OT_JSON_LINES);
	return NULL;
}

static struct ot_err *add_row(struct cli_fold *fold, int64_t value)
{
	struct flame *f = (struct flame *)fold;

	OT_TRY(begin(f));
	ot_json_array(&f->json, OT_JSON_INLINE);
	ot_json_string(&f->json, ot_buf_str(&fold->line));
	ot_json_uint(&f->json, fold->nkeys);
	ot_json_uint(&f->json, fold->nuser);
	ot_json_int(&f->json, value);
	ot_json_end(&f->json);
	return NULL;
}

static void flame_value(struct cli_output *o, const struct cli_datum *d)
{
	ot_err_destroy(cli_fold_value((struct cli_fold *)o, d, add_row)); /* without memory: the next one */
}

static struct ot_err *flame_aggregation(struct cli_output *o, const struct cli_agg_view *view,
					const struct dif_format *fmt)
{
	(void)fmt;
	return cli_fold_aggregation((struct cli_fold *)o, view, add_row);
}

/* "</script>" in a name must not end the page's script. */
static void write_rows(FILE *fp, const char *rows, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (rows[i] == '<')
			fputs("\\u003c", fp);
		else
			putc(rows[i], fp);
}

static struct ot_err *write_page(struct flame *f)
{
	const char *page = cli_flame_page, *at = strstr(page, ROWS);
	FILE *fp = f->fold.base.printer.fp;

	OT_TRY(begin(f));
	ot_json_end(&f->json);
	OT_TRY(ot_json_finish(&f->json));
	if (fflush(f->fp) || ferror(f->fp))
		return ot_err_nomem();
	fwrite(page, 1, (size_t)(at - page), fp);
	write_rows(fp, f->rows, f->len);
	fputs(at + strlen(ROWS), fp);
	return NULL;
}

static struct ot_err *flame_end(struct cli_output *o)
{
	struct flame *f = (struct flame *)o;
	struct ot_err *err = f->ended ? NULL : write_page(f);

	f->ended = true;
	if (f->fp)
		fclose(f->fp);
	free(f->rows);
	f->fp = NULL;
	f->rows = NULL;
	cli_fold_deinit(&f->fold);
	return err;
}

const struct cli_output_ops cli_output_flame = {
	.format = "flame",
	.size = sizeof(struct flame),
	.value = flame_value,
	.aggregation = flame_aggregation,
	.end = flame_end,
	CLI_FOLD_OPS,
};
