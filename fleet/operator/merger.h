/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mergers on the operator's side. One is in the table of hosts for the data of its own, which are the sums of
 * its members, and is not counted among them. What a member says comes by its merger's link, and is that of a
 * host (channel.h). When a merger is lost its members get new entries of the table, which begin again.
 */
#ifndef FLEET_OPERATOR_MERGER_H
#define FLEET_OPERATOR_MERGER_H

#include "fleet/operator/internal.h"

#define FL_MERGERS_MAX 256u
#define FL_DIRECT_MAX  150u          /* hosts of a lost merger that are taken directly */
#define FL_MARGIN_NS   2000000000ull /* … after a lease, in which the old session ends */
#define FL_PARTING_NS  3000000000ull /* a merger, which has nothing left */

/* merger.c: what a merger says, and its members. */
/** @p h is a merger, whose answer has named @p ephemeral. */
OT_MUST_CHECK struct ot_err *fl_merger_create(struct fl_host *h, const uint8_t ephemeral[FL_MEMBER_KEY]);
void fl_merger_destroy(struct fl_merger *m);
/** @p h, which waits, becomes a member of @p merger's. */
OT_MUST_CHECK struct ot_err *fl_merger_add(struct fl_host *merger, struct fl_host *h);
/** How many more may become that. */
uint32_t fl_merger_room(const struct fl_host *merger);
/** One of these places is somebody's, or not any more. */
void fl_merger_reserve(struct fl_host *merger, bool reserve);
/** Send MEMBER for those who wait for it, as far as the link has room. */
OT_MUST_CHECK struct ot_err *fl_merger_ask(struct fl_host *merger);
/** Send the operator's own program. */
OT_MUST_CHECK struct ot_err *fl_merger_begin(struct fl_host *merger);
OT_MUST_CHECK struct ot_err *fl_merger_take(struct fl_host *merger, enum fl_kind kind, const void *data,
					    size_t len);
/** The members that have not ended; each is taken out. NULL: there is none any more. */
struct fl_host *fl_merger_next_orphan(struct fl_host *merger);
/** Since when, by this side's clock, sums may not have come. */
uint64_t fl_merger_summed_ns(const struct fl_host *merger);

/* again.c: hosts whose merger is lost. */
/** The merger is lost: say so, and have its members begin again elsewhere. */
void fl_merger_lost(struct fl_host *merger, const char *why);
/** Do what is due. */
OT_MUST_CHECK struct ot_err *fl_fleet_go_on_again(struct fl_fleet *fleet);
/** When that is; UINT64_MAX: nothing waits. */
uint64_t fl_fleet_again_due_ns(const struct fl_fleet *fleet);
/** Nothing begins any more: who waits is lost. */
OT_MUST_CHECK struct ot_err *fl_fleet_end_again(struct fl_fleet *fleet);

#endif
