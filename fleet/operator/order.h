/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records of several hosts in the order of their times (-x temporal): each waits until every source has
 * handed over what it had until then, and FL_ORDER_NS at most. What waits is bounded: beyond that the oldest
 * go on.
 */
#ifndef FLEET_OPERATOR_ORDER_H
#define FLEET_OPERATOR_ORDER_H

#include "vmm-probe/session/data.h"

#define FL_ORDER_NS    2000000000ull
#define FL_ORDER_BYTES (64u << 20)

struct fl_waiting {
	uint64_t time_ns, arrived_ns, number; /* number: in order of arrival, for those of one time */
	const struct vp_enabled *ecb;
	uint32_t cpu, size;
	uint8_t data[];
};

struct fl_order {
	struct vp_sink sink;       /* where records go on to */
	struct fl_waiting **items; /* a heap: the first is the oldest */
	size_t n, cap;
	size_t bytes, limit;
	uint64_t number;
	bool waits; /* false: records go on as they come */
};

void fl_order_init(struct fl_order *o, const struct vp_sink *sink);
void fl_order_deinit(struct fl_order *o);
OT_MUST_CHECK struct ot_err *fl_order_put(struct fl_order *o, const struct vp_record *r, uint64_t now_ns);
/** Let those go on that are not after @p upto_ns, and those that have waited for long enough. */
OT_MUST_CHECK struct ot_err *fl_order_release(struct fl_order *o, uint64_t upto_ns, uint64_t now_ns);
/** When release() is to be called again; UINT64_MAX: nothing waits. */
uint64_t fl_order_due_ns(const struct fl_order *o);

#endif
