/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row as one line of frames, for the outputs that flame graphs are made of: the keys before the stack, a
 * process's frames, then the kernel's, whichever key is first, each stack from its outermost frame on, ';'
 * between them. Offsets are left out, so that a function is one frame. What has no stack is left out, and
 * that is said once.
 */
#ifndef CLI_OUTPUT_FOLD_H
#define CLI_OUTPUT_FOLD_H

#include "base/buf.h"
#include "cli/output/text.h"

/* The state of such an output begins with this. */
struct cli_fold {
	struct cli_output base;
	struct ot_buf line; /* of the row that is being emitted */
	uint32_t nkeys,
	    nuser;     /* the line's first frames are keys, then a process's; the others are the kernel's */
	bool reported; /* that something was left out */
};

/* What an output does with a row: fold->line is not empty, @p value is above 0. */
typedef struct ot_err *cli_fold_emit(struct cli_fold *fold, int64_t value);

/** A datum that was recorded by itself: if it is a stack, it was there once. */
OT_MUST_CHECK struct ot_err *cli_fold_value(struct cli_fold *fold, const struct cli_datum *d,
					    cli_fold_emit *emit);
/** The rows of an aggregation; a histogram has no number, and one that is not positive no width. */
OT_MUST_CHECK struct ot_err *cli_fold_aggregation(struct cli_fold *fold, const struct cli_agg_view *view,
						  cli_fold_emit *emit);
/** The length of a frame's text without its offset: functions, not places in them, are one. */
size_t cli_fold_name(const char *text);
/** Append a stack's frames, outermost first, to a line of frames. How many they are. */
uint32_t cli_fold_frames(struct ot_buf *line, struct cli_printer *p, const struct cli_datum *d);
/** Say once that something was left out. */
void cli_fold_left_out(struct cli_fold *fold);
void cli_fold_deinit(struct cli_fold *fold);

/* Members of struct cli_output_ops that are the same for all of them. */
void cli_fold_record(struct cli_output *o, const struct vp_record *r, const struct vp_enabled *next);
void cli_fold_text(struct cli_output *o, const struct dif_format *fmt, const struct cli_datum *args,
		   unsigned nargs);
void cli_fold_moment(struct cli_output *o);

/* clang-format off */
#define CLI_FOLD_OPS \
	.record = cli_fold_record, .text = cli_fold_text, .record_end = cli_fold_moment, .fault = cli_text_fault, \
	.drop = cli_text_drop, .overload = cli_text_overload, .interrupted = cli_fold_moment, \
	.stopped = cli_fold_moment, .comparison = cli_text_comparison, .hidden = cli_text_hidden
/* clang-format on */

#endif
