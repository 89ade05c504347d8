/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of guests as lines, for scripts: names are escaped as on the terminal, and never truncated. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "cli/top/run.h"
#include "consumer/messages.h"

/* The titles are there without a guest too. */
static struct ot_err *column_of(const struct cli_top_shape *shape, const char *title, unsigned *ret)
{
	struct ot_buf titles;

	if (!strcmp(title, shape->name)) {
		*ret = 0;
		return NULL;
	}
	ot_buf_init(&titles);
	for (unsigned i = 0; i < shape->ncolumns; i++) {
		if (!strcmp(title, shape->columns[i].title)) {
			*ret = i + 1;
			ot_buf_deinit(&titles);
			return NULL;
		}
		ot_buf_printf(&titles, " %s", shape->columns[i].title);
	}
	struct ot_err *err = ot_err_new(OT_ERR_NOT_FOUND, "-o %s: there is no such column; there are %s%s",
					title, shape->name, ot_buf_str(&titles));
	ot_buf_deinit(&titles);
	return err;
}

struct ot_err *cli_top_column_find(const struct cli_top_options *o, unsigned *ret)
{
	const struct cli_top_guests none = { 0 };
	struct cli_top_table t = { 0 };

	OT_TRY(cli_top_guests_table(&none, o->exits, &t));
	struct ot_err *err = column_of(t.shape, o->column, ret);
	cli_top_table_deinit(&t);
	return err;
}

static struct ot_err *print(const struct cli_top_guests *g, const struct cli_top_options *o, unsigned column,
			    struct cli_top_table *t)
{
	struct ot_buf out;

	OT_TRY(cli_top_guests_table(g, o->exits, t));
	cli_top_table_sort(t, column, false);
	unsigned width = cli_top_table_width(t);
	ot_buf_init(&out);
	cli_top_table_titles(t, column, width, &out);
	ot_buf_putc(&out, '\n');
	for (size_t i = 0; i < t->count; i++) {
		cli_top_table_line(t, i, width, &out);
		ot_buf_putc(&out, '\n');
	}
	ot_buf_putc(&out, '\n');
	struct ot_err *err = out.failed ? ot_err_nomem() : NULL;
	if (!err)
		fputs(ot_buf_str(&out), stdout);
	ot_buf_deinit(&out);
	return err;
}

static void pause_for(unsigned ms)
{
	const struct timespec t = ot_timespec(ms * 1000000ull);

	nanosleep(&t, NULL);
}

/* The first numbers are those of the first period: a rate needs two readings. @status: of the output, with
 * which it ends. */
static struct ot_err *run(const struct cli_top_options *o, unsigned column, struct cli_top_guests *g,
			  struct cli_top_table *t, int *status)
{
	OT_TRY(cli_top_guests_refresh(g));
	for (unsigned long i = 0; !o->times || i < o->times; i++) {
		pause_for(o->period_ms);
		OT_TRY(cli_top_guests_refresh(g));
		OT_TRY(print(g, o, column, t));
		*status = con_finish_output(stdout, "<stdout>");
		if (*status != CON_EXIT_OK)
			return NULL;
	}
	return NULL;
}

int cli_top_batch(const struct cli_top_options *o)
{
	struct cli_top_guests guests = cli_top_guests_here(o);
	struct cli_top_table t = { 0 };
	unsigned column = 3; /* the CPU's; of exits, all */
	struct ot_err *err = NULL;
	int status = CON_EXIT_OK;

	if (o->exits)
		column = 1;
	if (o->column)
		err = cli_top_column_find(o, &column);
	if (!err)
		err = run(o, column, &guests, &t, &status);
	cli_top_table_deinit(&t);
	cli_top_guests_deinit(&guests);
	return err ? con_fail(err, "top") : status;
}
