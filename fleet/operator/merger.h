/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mergers on the operator's side. A merger is in the table of hosts for its own data, the sums of its
 * members, but is not counted as a host. Its members' messages arrive by its link and are handled as a host's
 * (channel.h). When a merger is lost, its members get new entries of the table, which start again.
 */
#ifndef FLEET_OPERATOR_MERGER_H
#define FLEET_OPERATOR_MERGER_H

#include "fleet/operator/internal.h"

#define FL_MERGERS_MAX 256u
#define FL_DIRECT_MAX  150u          /* hosts of a lost merger that are reached directly */
#define FL_MARGIN_NS   2000000000ull /* … after a lease, during which the old session ends */
#define FL_PARTING_NS  3000000000ull /* a merger, which has nothing left */

/* merger.c: what a merger says, and its members. */
/** Mark @p h as a merger, whose answer named @p ephemeral. */
OT_MUST_CHECK struct ot_err *fl_merger_create(struct fl_host *h, const uint8_t ephemeral[FL_MEMBER_KEY]);
void fl_merger_destroy(struct fl_merger *m);
/** Make the waiting host @p h a member of @p merger. */
OT_MUST_CHECK struct ot_err *fl_merger_add(struct fl_host *merger, struct fl_host *h);
/** The number of free places for members. */
uint32_t fl_merger_room(const struct fl_host *merger);
/** Reserve or release one of these places. */
void fl_merger_reserve(struct fl_host *merger, bool reserve);
/** Send waiting MEMBER messages, as far as the link has room. */
OT_MUST_CHECK struct ot_err *fl_merger_ask(struct fl_host *merger);
/** Send the operator's own program. */
OT_MUST_CHECK struct ot_err *fl_merger_begin(struct fl_host *merger);
OT_MUST_CHECK struct ot_err *fl_merger_take(struct fl_host *merger, enum fl_kind kind, const void *data,
					    size_t len);
/** Remove and return a member that has not ended. NULL: there is none any more. */
struct fl_host *fl_merger_next_orphan(struct fl_host *merger);
/** The time, by this side's clock, since which sums may be missing. */
uint64_t fl_merger_summed_ns(const struct fl_host *merger);

/* again.c: hosts whose merger is lost. */
/** Report the loss of the merger, and restart its members elsewhere. */
void fl_merger_lost(struct fl_host *merger, const char *why);
/** Do what is due. */
OT_MUST_CHECK struct ot_err *fl_fleet_go_on_again(struct fl_fleet *fleet);
/** The time of that; UINT64_MAX: nothing waits. */
uint64_t fl_fleet_again_due_ns(const struct fl_fleet *fleet);
/** Start nothing from now on: waiting hosts are lost. */
OT_MUST_CHECK struct ot_err *fl_fleet_end_again(struct fl_fleet *fleet);

#endif
