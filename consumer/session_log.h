/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines for the system's log (journal.h) about the guests of a session, named as their engines are. */
#ifndef CONSUMER_SESSION_LOG_H
#define CONSUMER_SESSION_LOG_H

#include "consumer/journal.h"
#include "vmm-probe/session/session.h"

/** Append the guests' names, borrowed from @p session; false: no memory. Free @p ret->items. */
OT_MUST_CHECK bool con_session_names(struct vp_session *session, struct con_strings *ret);

/** con_journal_note() of all guests of @p session; nothing for a session without one. */
void con_session_note(struct vp_session *session, const char *what);

/** Put in the log what the VMMs of @p session's guests, from number @p first on, have recorded of other
 * sessions and no log has yet: a client need not have written a line of its own. For root, whom the VMMs
 * trust; nothing for others, or without a log. */
void con_session_take_records(struct vp_session *session, uint32_t first);

#endif
