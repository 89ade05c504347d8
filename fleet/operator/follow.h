/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that migrate from one host to another: searched for at the others, and traced further there. */
#ifndef FLEET_OPERATOR_FOLLOW_H
#define FLEET_OPERATOR_FOLLOW_H

#include "fleet/operator/internal.h"

/** Its memory was about to be migrated, or saved, at @p left_ns: it is searched for at other hosts. *ret
 * false: it is not, since the session ends, or guests have migrated too often in it. */
OT_MUST_CHECK struct ot_err *fl_follow_left(struct fl_host *h, const struct fl_guest_there *there,
					    uint64_t left_ns, bool *ret);
/** It is traced there. *ret: it is one that is searched for, and the line was printed. */
OT_MUST_CHECK struct ot_err *fl_follow_joined(struct fl_host *h, const struct fl_guest_there *there,
					      bool *ret);
/** Take in hosts that were found, and give up guests that are not. */
OT_MUST_CHECK struct ot_err *fl_follow_poll(struct fl_fleet *fleet);
/** When that is to be done at the latest; UINT64_MAX. */
uint64_t fl_follow_due_ns(const struct fl_fleet *fleet);
/** Is a guest being searched for? */
bool fl_follow_goes_on(const struct fl_fleet *fleet);
/** Give all of them up. */
OT_MUST_CHECK struct ot_err *fl_follow_stop(struct fl_fleet *fleet);
/** Is it @p h's guests' migrations alone that its session has ended by, with @p text? */
bool fl_follow_explains(const struct fl_host *h, const char *text);
/** … and one of them was not found again. */
bool fl_follow_lost(const struct fl_host *h);
void fl_follow_destroy(struct fl_fleet *fleet);

#endif
