/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The common parts of the two halves of the output for Perfetto: events of records, and counters of
 * aggregations. */
#ifndef CONSUMER_OUTPUT_PERFETTO_H
#define CONSUMER_OUTPUT_PERFETTO_H

#include "consumer/messages.h"
#include "consumer/output/fold.h"
#include "consumer/output/perfetto_trace.h"
#include "consumer/output/text.h"

struct con_perfetto {
	struct con_output base;
	struct con_perfetto_trace trace;
	struct ot_err *err;      /* the first; reported by end() */
	struct ot_map functions; /* "provider:module:function" → its number from 1 on */
	/* The record that is being taken apart. */
	const struct vp_enabled *ecb;
	uint32_t cpu;
	uint64_t time_ns;
	bool has_tid;
	int64_t tid;
	char execname[64];
	struct con_pb fields;    /* of its event */
	unsigned nvalues;        /* data without names so far */
	struct ot_buf frames[2]; /* of its stacks, as lines of fold.h: the kernel's, a process's */
	/* The one before it that was an entry or a return. */
	struct {
		const struct con_perfetto_track *track;
		const struct vp_probe *probe;
		uint64_t time_ns;
		uint32_t cpu;
	} last;
	bool reported; /* reported that histograms are left out */
	bool ended;
};

/** The track of a guest, a process's; NULL: there are too many, or no memory. */
struct con_perfetto_track *con_perfetto_guest(struct con_perfetto *p, uint32_t guest);

/* perfetto_counters.c: as in struct con_output_ops */
OT_MUST_CHECK struct ot_err *con_perfetto_aggregation(struct con_output *o, const struct con_agg_view *view,
						      const struct dif_format *fmt);
OT_MUST_CHECK struct ot_err *con_perfetto_interval(struct con_output *o, struct con_aggs *aggs, bool last);

#endif
