/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Aggregations on their way to the operator. Deltas fold here until the link is free, so that a slow operator
 * makes messages rarer, and never counts fewer. What is handed over begins again with nothing.
 */
#ifndef FLEET_HOST_GATHER_H
#define FLEET_HOST_GATHER_H

#include "consumer/aggregate.h"

#define FL_GATHER_KEYS (4u << 20) /* that wait at most */

struct fl_gather {
	struct con_aggs aggs;
	struct con_printer printer; /* without names: addresses are numbers here */
	uint64_t nkeys;
	uint64_t max; /* FL_GATHER_KEYS */
};

OT_MUST_CHECK struct ot_err *fl_gather_init(struct fl_gather *g, const struct dif_program *prog,
					    const struct dif_options *opts);
void fl_gather_deinit(struct fl_gather *g);

/** Fold a delta, whose tuple has numbers for names already. *ret_taken false: there are too many keys. */
OT_MUST_CHECK struct ot_err *fl_gather_add(struct fl_gather *g, const struct vp_aggregate *delta,
					   bool *ret_taken);

/** Hand over what waits, about @p most bytes of it: each full batch, elements of FL_AGGREGATES, to @p send,
 * which may keep nothing of it. What was handed over is forgotten. */
OT_MUST_CHECK struct ot_err *fl_gather_take(struct fl_gather *g, size_t most,
					    struct ot_err *(*send)(void *arg, const struct ot_buf *batch),
					    void *arg);

#endif
