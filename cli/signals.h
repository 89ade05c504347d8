/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The signals by which an operator ends a session: SIGINT, SIGTERM, SIGHUP. */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"

/** Block them, so that they stay pending until booted guests are stopped in order; and ignore SIGPIPE: a
 * closed pipe is an error of writing. */
void cli_signals_hold(void);

/** Is one of them pending? */
bool cli_signals_pending(void);

/** Block them and @p extra (0: none); *ret_fd is readable when one is pending. The caller closes it. */
OT_MUST_CHECK struct ot_err *cli_signals_open(int extra, int *ret_fd);

/** Take the pending ones: how many there were. */
unsigned cli_signals_take(int fd);

#endif
