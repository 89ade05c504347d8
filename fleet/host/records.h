/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records that wait for the link, in order, and counts of lost ones. Both are bounded. */
#ifndef FLEET_HOST_RECORDS_H
#define FLEET_HOST_RECORDS_H

#include "fleet/wire/message.h"

struct fl_records_batch;

struct fl_records {
	struct fl_records_batch *first, *last;
	uint64_t bytes, limit; /* of all batches */
	uint64_t per_s;        /* maximum bytes a second; 0: no limit */
	uint64_t allowed;      /* the remaining allowance */
	uint64_t since_ns;     /* the time of that */
};

void fl_records_init(struct fl_records *r);
void fl_records_deinit(struct fl_records *r);

/** *ret_taken false: there is no room for it, or it exceeds the rate. */
OT_MUST_CHECK struct ot_err *fl_records_put(struct fl_records *r, const struct fl_record *record,
					    uint64_t now_ns, bool *ret_taken);
/** The first batch, as elements of FL_RECORDS appended to @p out. False: there is none. */
bool fl_records_take(struct fl_records *r, struct ot_buf *out);

/* Counts of lost data, by kind and vCPU. */
struct fl_losses {
	struct fl_drop *items;
	size_t n, cap;
};

OT_MUST_CHECK struct ot_err *fl_losses_add(struct fl_losses *l, uint32_t kind, uint32_t cpu, uint64_t count);
/** Append all of them to @p out, as elements of FL_DROPS, and clear them. */
void fl_losses_take(struct fl_losses *l, struct ot_buf *out);

#endif
