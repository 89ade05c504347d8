/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines for the system's log (journal.h) about the guests of a session, named as their engines are. */
#ifndef CLI_SESSION_LOG_H
#define CLI_SESSION_LOG_H

#include "cli/journal.h"
#include "vmm-probe/session/session.h"

/** Append the guests' names, borrowed from @p session; false: no memory. Free @p ret->items. */
OT_MUST_CHECK bool cli_session_names(struct vp_session *session, struct cli_strings *ret);

/** cli_journal_note() of all guests of @p session; nothing for a session without one. */
void cli_session_note(struct vp_session *session, const char *what);

#endif
