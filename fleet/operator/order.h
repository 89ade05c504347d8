/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Orders records of several hosts by time (-x temporal): each waits until every source has delivered its
 * records up to that time, but at most FL_ORDER_NS. The queue is bounded: beyond the bound the oldest records
 * are passed on.
 */
#ifndef FLEET_OPERATOR_ORDER_H
#define FLEET_OPERATOR_ORDER_H

#include "vmm-probe/session/data.h"

#define FL_ORDER_NS    2000000000ull
#define FL_ORDER_BYTES (64u << 20)

struct fl_waiting {
	uint64_t time_ns, arrived_ns, number; /* number: order of arrival, for equal times */
	const struct vp_enabled *ecb;
	uint32_t cpu, size;
	uint8_t data[];
};

struct fl_order {
	struct vp_sink sink;       /* receiver of records */
	struct fl_waiting **items; /* a heap: the first is the oldest */
	size_t n, cap;
	size_t bytes, limit;
	uint64_t number;
	bool waits; /* false: records are passed on at arrival */
};

void fl_order_init(struct fl_order *o, const struct vp_sink *sink);
void fl_order_deinit(struct fl_order *o);
OT_MUST_CHECK struct ot_err *fl_order_put(struct fl_order *o, const struct vp_record *r, uint64_t now_ns);
/** Pass on records up to @p upto_ns, and those that have waited long enough. */
OT_MUST_CHECK struct ot_err *fl_order_release(struct fl_order *o, uint64_t upto_ns, uint64_t now_ns);
/** When release() is due again; UINT64_MAX: nothing waits. */
uint64_t fl_order_due_ns(const struct fl_order *o);

#endif
