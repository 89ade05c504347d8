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

/** Put in the log what the VMMs of @p session's guests have recorded of other sessions and no log has yet: a
 * client need not have written a line of its own. For root, whose word the VMMs believe; nothing for others,
 * or without a log. */
void cli_session_take_records(struct vp_session *session);

/** A line for a guest into whose VMM an engine is about to be injected; for struct vp_attach_opts.entering,
 * which also says it on stderr. */
void cli_session_entering(void *arg, const char *guest, uint32_t pid, const char *why);

#endif
