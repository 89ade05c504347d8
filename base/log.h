/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines for the system's log, as syslog(3) sends them to /dev/log, facility authpriv as sudo's: its readers
 * may see command lines. Not syslog(3) itself: that does not tell whether a logger took the line, and the
 * process that loaded us, a VMM, may use it with settings of its own.
 */
#ifndef OT_BASE_LOG_H
#define OT_BASE_LOG_H

#include "base/buf.h"

/** Append at most @p max bytes of untrusted @p text, then "...", so that it can't end a line or a field in
 * quotes: blanks become one space, and a '"' and any byte that is not printable ASCII a '?'. */
void ot_log_put_text(struct ot_buf *out, const char *text, size_t max);

/** Send a line as program "outsight", level notice. False: no logger took it. @p patient: wait, a few seconds
 * at most, for one that is busy; otherwise this never waits. Any thread. */
bool ot_log_send(const char *line, bool patient);

/** Does a logger listen? */
bool ot_log_listens(void);

#endif
