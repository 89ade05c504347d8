/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A row as one line of frames, for the outputs that flame graphs are made of: the keys before the stack, a
 * process's frames, then the kernel's, whichever key is first, each stack from its outermost frame on, ';'
 * between them. Offsets are left out, so that a function is one frame. Data without a stack is left out,
 * which is reported once.
 */
#ifndef CONSUMER_OUTPUT_FOLD_H
#define CONSUMER_OUTPUT_FOLD_H

#include "base/buf.h"
#include "consumer/output/text.h"

/* The state of such an output begins with this. */
struct con_fold {
	struct con_output base;
	struct ot_buf line; /* of the row that is being emitted */
	uint32_t nkeys,
	    nuser;     /* the line's first frames are keys, then a process's; the others are the kernel's */
	bool reported; /* that something was left out */
};

/* The output's function for a row: fold->line is not empty, @p value is above 0. */
typedef struct ot_err *con_fold_emit(struct con_fold *fold, int64_t value);

/** A datum that was recorded by itself: a stack counts once. */
OT_MUST_CHECK struct ot_err *con_fold_value(struct con_fold *fold, const struct con_datum *d,
					    con_fold_emit *emit);
/** The rows of an aggregation; a histogram has no number, and one that is not positive no width. */
OT_MUST_CHECK struct ot_err *con_fold_aggregation(struct con_fold *fold, const struct con_agg_view *view,
						  con_fold_emit *emit);
/** The length of a frame's text without its offset: functions, not places in them, are one. */
size_t con_fold_name(const char *text);
/** Append a stack's frames, outermost first, to a line of frames. Returns their number. */
uint32_t con_fold_frames(struct ot_buf *line, struct con_printer *p, const struct con_datum *d);
/** Report once that something was left out. */
void con_fold_left_out(struct con_fold *fold);
void con_fold_deinit(struct con_fold *fold);

/* Members of struct con_output_ops that are the same for all of them. */
void con_fold_record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next);
void con_fold_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		   unsigned nargs);
void con_fold_moment(struct con_output *o);

/* clang-format off */
#define CON_FOLD_OPS \
	.record = con_fold_record, .text = con_fold_text, .record_end = con_fold_moment, .fault = con_text_fault, \
	.drop = con_text_drop, .overload = con_text_overload, .interrupted = con_fold_moment, \
	.stopped = con_fold_moment, .comparison = con_text_comparison, .hidden = con_text_hidden
/* clang-format on */

#endif
