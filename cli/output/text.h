/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions of the text output, for its own files and for outputs that write some things as it does. */
#ifndef CLI_OUTPUT_TEXT_H
#define CLI_OUTPUT_TEXT_H

#include "cli/output/output.h"

/* The state of the text output, and of each output that uses the functions below. */
struct cli_text {
	struct cli_output base;
	bool heading_printed;
	/* flowindent */
	int indent;
	const struct vp_enabled *last; /* of the record before */
};

/* text.c: as in struct cli_output_ops */
bool cli_text_awaits_next(const struct cli_output *o, const struct vp_record *r);
void cli_text_record(struct cli_output *o, const struct vp_record *r, const struct vp_enabled *next);
void cli_text_value(struct cli_output *o, const struct cli_datum *d);
void cli_text_text(struct cli_output *o, const struct dif_format *fmt, const struct cli_datum *args,
		   unsigned nargs);
void cli_text_record_end(struct cli_output *o);
void cli_text_fault(struct cli_output *o, const struct vp_fault_info *fault, uint64_t count,
		    bool same_address);
void cli_text_drop(struct cli_output *o, enum vp_drop_kind kind, uint32_t cpu, uint64_t count);
void cli_text_overload(struct cli_output *o, const struct vp_overload_info *overload);
/** Both when the user interrupts and when all records were written. */
void cli_text_empty_line(struct cli_output *o);

/* text_aggregate.c */
OT_MUST_CHECK struct ot_err *cli_text_aggregation(struct cli_output *o, const struct cli_agg_view *v,
						  const struct dif_format *fmt);
/* What printa()'s format is applied to: a row's keys, for the plain conversions, and its values, for those
 * with @. */
#define CLI_ROW_KEYS 64
struct cli_row {
	struct cli_datum keys[CLI_ROW_KEYS];
	struct cli_aggval vals[CLI_AGG_COLUMNS];
	uint32_t nkeys;
};
/** Row @p row of @p v; @p p names its guest's addresses from then on. */
void cli_row_read(struct cli_row *ret, struct cli_printer *p, const struct cli_agg_view *v, size_t row);

/** An entry's keys in a row, as the default table has them. */
void cli_text_keys(struct cli_printer *p, struct cli_agg_entry *e);

/* text_comparison.c */
OT_MUST_CHECK struct ot_err *cli_text_comparison(struct cli_output *o, const struct cli_comparison *c);
OT_MUST_CHECK struct ot_err *cli_text_hidden(struct cli_output *o, const struct cli_hidden_kind *kind,
					     const struct cli_hidden *h, uint32_t ways);

#endif
