/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queues aggregations for the operator. Deltas are merged here until the link is free: a slow operator makes
 * messages rarer, but never loses counts. Merging starts anew after each send.
 */
#ifndef FLEET_HOST_GATHER_H
#define FLEET_HOST_GATHER_H

#include "consumer/aggregate.h"

#define FL_GATHER_KEYS (4u << 20) /* maximum number of waiting keys */

struct fl_gather {
	struct con_aggs aggs;
	struct con_printer printer; /* without names: addresses are numbers here */
	uint64_t nkeys;
	uint64_t max; /* FL_GATHER_KEYS */
};

OT_MUST_CHECK struct ot_err *fl_gather_init(struct fl_gather *g, const struct dif_program *prog,
					    const struct dif_options *opts);
void fl_gather_deinit(struct fl_gather *g);

/** Merge a delta whose tuple already has numbers for names. *ret_taken false: there are too many keys. */
OT_MUST_CHECK struct ot_err *fl_gather_add(struct fl_gather *g, const struct vp_aggregate *delta,
					   bool *ret_taken);

/** Send waiting elements, about @p most bytes of them: each full batch, elements of FL_AGGREGATES, goes to @p
 * send, which must not keep it. Sent elements are removed. */
OT_MUST_CHECK struct ot_err *fl_gather_take(struct fl_gather *g, size_t most,
					    struct ot_err *(*send)(void *arg, const struct ot_buf *batch),
					    void *arg);

#endif
