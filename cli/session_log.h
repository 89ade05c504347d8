/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the system's log is told of a session's guests (journal.h), by the names of their engines. */
#ifndef CLI_SESSION_LOG_H
#define CLI_SESSION_LOG_H

#include "cli/journal.h"
#include "vmm-probe/session/session.h"

/** Append the guests' names, borrowed from @p session; false: no memory. Free @p ret->items. */
OT_MUST_CHECK bool cli_session_names(struct vp_session *session, struct cli_strings *ret);

/** cli_journal_note() of all guests of @p session; nothing for a session without one. */
void cli_session_note(struct vp_session *session, const char *what);

#endif
