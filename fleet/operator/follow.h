/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Follows guests that migrate from one host to another: searches the other hosts, and continues the trace
 * there. */
#ifndef FLEET_OPERATOR_FOLLOW_H
#define FLEET_OPERATOR_FOLLOW_H

#include "fleet/operator/internal.h"

/** The guest's memory was about to be migrated, or saved, at @p left_ns: search for it at other hosts. *ret
 * false: no search, because the session ends, or guests have migrated too often in it. */
OT_MUST_CHECK struct ot_err *fl_follow_left(struct fl_host *h, const struct fl_guest_there *there,
					    uint64_t left_ns, bool *ret);
/** The guest is traced there. *ret: it was searched for, and the message was printed. */
OT_MUST_CHECK struct ot_err *fl_follow_joined(struct fl_host *h, const struct fl_guest_there *there,
					      bool *ret);
/** Add hosts that were found, and give up guests that were not. */
OT_MUST_CHECK struct ot_err *fl_follow_poll(struct fl_fleet *fleet);
/** The latest time for that; UINT64_MAX. */
uint64_t fl_follow_due_ns(const struct fl_fleet *fleet);
/** Is a guest being searched for? */
bool fl_follow_goes_on(const struct fl_fleet *fleet);
/** Give all of them up. */
OT_MUST_CHECK struct ot_err *fl_follow_stop(struct fl_fleet *fleet);
/** Did the session of @p h end, with @p text, only because its guests migrated? */
bool fl_follow_explains(const struct fl_host *h, const char *text);
/** The same, and one of them was not found again. */
bool fl_follow_lost(const struct fl_host *h);
void fl_follow_destroy(struct fl_fleet *fleet);

#endif
