/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of the text output, for its own files and for outputs that share parts of its form. */
#ifndef CONSUMER_OUTPUT_TEXT_H
#define CONSUMER_OUTPUT_TEXT_H

#include "consumer/output/output.h"

/* The state of the text output, and of each output that uses the functions below. */
struct con_text {
	struct con_output base;
	bool heading_printed;
	/* flowindent */
	int indent;
	const struct vp_enabled *last; /* of the record before */
};

/* text.c: as in struct con_output_ops */
bool con_text_awaits_next(const struct con_output *o, const struct vp_record *r);
void con_text_record(struct con_output *o, const struct vp_record *r, const struct vp_enabled *next);
void con_text_value(struct con_output *o, const struct con_datum *d);
void con_text_text(struct con_output *o, const struct dif_format *fmt, const struct con_datum *args,
		   unsigned nargs);
void con_text_record_end(struct con_output *o);
void con_text_fault(struct con_output *o, const struct vp_fault_info *fault, uint64_t count,
		    bool same_address);
void con_text_drop(struct con_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count);
void con_text_overload(struct con_output *o, const struct vp_overload_info *overload);
/** Both when the user interrupts and when all records were written. */
void con_text_empty_line(struct con_output *o);

/* The functions that an output on struct con_text shares with the text output. */
#define CON_TEXT_OPS                                                                                     \
	.size = sizeof(struct con_text), .awaits_next = con_text_awaits_next, .record = con_text_record, \
	.value = con_text_value, .text = con_text_text, .aggregation = con_text_aggregation,             \
	.record_end = con_text_record_end, .fault = con_text_fault, .drop = con_text_drop,               \
	.overload = con_text_overload, .interrupted = con_text_empty_line, .stopped = con_text_empty_line

/* text_aggregate.c */
OT_MUST_CHECK struct ot_err *con_text_aggregation(struct con_output *o, const struct con_agg_view *v,
						  const struct dif_format *fmt);
/* The arguments of printa()'s format: a row's keys, for the plain conversions, and its values, for those with
 * @. */
#define CON_ROW_KEYS 64
struct con_row {
	struct con_datum keys[CON_ROW_KEYS];
	struct con_aggval vals[CON_AGG_COLUMNS];
	uint32_t nkeys;
};
/** Row @p row of @p v; @p p names its guest's addresses from then on. */
void con_row_read(struct con_row *ret, struct con_printer *p, const struct con_agg_view *v, size_t row);

/** An entry's keys in a row, as the default table has them. */
void con_text_keys(struct con_printer *p, struct con_agg_entry *e);

/* text_comparison.c */
OT_MUST_CHECK struct ot_err *con_text_comparison(struct con_output *o, const struct con_comparison *c);
OT_MUST_CHECK struct ot_err *con_text_hidden(struct con_output *o, const struct con_hidden_kind *kind,
					     const struct con_hidden *h, uint32_t ways);

#endif
