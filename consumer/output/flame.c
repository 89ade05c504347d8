/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A flame graph: one self-contained HTML file (flame.html), with the rows of fold.h as JSON in it. A row is
 * [frames, number of keys, number of a process's frames, value]. Names come from the guest: they are in JSON
 * strings without a '<', and the page shows them as text.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/json.h"
#include "consumer/output/fold.h"
#include "consumer/output/page.h"

struct flame {
	struct con_fold fold;
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

static struct ot_err *add_row(struct con_fold *fold, int64_t value)
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

static void flame_value(struct con_output *o, const struct con_datum *d)
{
	ot_err_destroy(con_fold_value((struct con_fold *)o, d, add_row)); /* without memory: the next one */
}

static struct ot_err *flame_aggregation(struct con_output *o, const struct con_agg_view *view,
					const struct dif_format *fmt)
{
	(void)fmt;
	return con_fold_aggregation((struct con_fold *)o, view, add_row);
}

static struct ot_err *write_page(struct flame *f)
{
	OT_TRY(begin(f));
	ot_json_end(&f->json);
	OT_TRY(ot_json_finish(&f->json));
	if (fflush(f->fp) || ferror(f->fp))
		return ot_err_nomem();
	con_page_write(f->fold.base.printer.fp, con_flame_page, f->rows, f->len);
	return NULL;
}

static struct ot_err *flame_end(struct con_output *o)
{
	struct flame *f = (struct flame *)o;
	struct ot_err *err = f->ended ? NULL : write_page(f);

	f->ended = true;
	if (f->fp)
		fclose(f->fp);
	free(f->rows);
	f->fp = NULL;
	f->rows = NULL;
	con_fold_deinit(&f->fold);
	return err;
}

const struct con_output_ops con_output_flame = {
	.format = "flame",
	.size = sizeof(struct flame),
	.value = flame_value,
	.aggregation = flame_aggregation,
	.end = flame_end,
	CON_FOLD_OPS,
};
