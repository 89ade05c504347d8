/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, one a line, as flame graph programs read them: the frames of fold.h, and the value.
 *
 *   swapper/0;vmlinux`cpu_startup_entry;vmlinux`do_idle;vmlinux`default_idle 97
 */
#include "consumer/output/fold.h"

static struct ot_err *write_line(struct con_fold *fold, int64_t value)
{
	fprintf(fold->base.printer.fp, "%s %lld\n", ot_buf_str(&fold->line), (long long)value);
	return NULL;
}

static void folded_value(struct con_output *o, const struct con_datum *d)
{
	ot_err_destroy(
	    con_fold_value((struct con_fold *)o, d, write_line)); /* without memory: the next one */
}

static struct ot_err *folded_aggregation(struct con_output *o, const struct con_agg_view *view,
					 const struct dif_format *fmt)
{
	(void)fmt;
	return con_fold_aggregation((struct con_fold *)o, view, write_line);
}

static struct ot_err *folded_end(struct con_output *o)
{
	con_fold_deinit((struct con_fold *)o);
	return NULL;
}

const struct con_output_ops con_output_folded = {
	.format = "folded",
	.size = sizeof(struct con_fold),
	.value = folded_value,
	.aggregation = folded_aggregation,
	.end = folded_end,
	CON_FOLD_OPS,
};
