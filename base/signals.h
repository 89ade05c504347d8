/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signals that are read from a descriptor instead of interrupting. */
#ifndef OT_BASE_SIGNALS_H
#define OT_BASE_SIGNALS_H

#include <stddef.h>

#include "base/err.h"

/** Block the @p n signals of @p list in this thread, and in those that it starts from now on: they are read
 * from *ret_fd (struct signalfd_siginfo), which does not wait and is closed on exec. OS. */
OT_MUST_CHECK struct ot_err *ot_signals_open(const int *list, size_t n, int *ret_fd);

#endif
