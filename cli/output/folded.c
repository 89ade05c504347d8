/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, one a line, as flame graph programs read them: the frames of fold.h, and the value.
 *
 *   swapper/0;vmlinux`cpu_startup_entry;vmlinux`do_idle;vmlinux`default_idle 97
 */
#include "cli/output/fold.h"

static struct ot_err *write_line(struct cli_fold *fold, int64_t value)
{
	fprintf(fold->base.printer.fp, "%s %lld\n", ot_buf_str(&fold->line), (long long)value);
	return NULL;
}

static void folded_value(struct cli_output *o, const struct cli_datum *d)
{
	ot_err_destroy(
	    cli_fold_value((struct cli_fold *)o, d, write_line)); /* without memory: the next one */
}

static struct ot_err *folded_aggregation(struct cli_output *o, const struct cli_agg_view *view,
					 const struct dif_format *fmt)
{
	(void)fmt;
	return cli_fold_aggregation((struct cli_fold *)o, view, write_line);
}

static struct ot_err *folded_end(struct cli_output *o)
{
	cli_fold_deinit((struct cli_fold *)o);
	return NULL;
}

const struct cli_output_ops cli_output_folded = {
	.format = "folded",
	.size = sizeof(struct cli_fold),
	.value = folded_value,
	.aggregation = folded_aggregation,
	.end = folded_end,
	CLI_FOLD_OPS,
};
