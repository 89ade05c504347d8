/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checks of a command line that need neither a guest nor the compiler. */
#ifndef CLI_ASKED_H
#define CLI_ASKED_H

#include "cli/options.h"

/** Is there anything to trace? CLI_GO_ON, or the exit status: the missing part has been reported. */
int cli_check_asked(const struct cli_invocation *inv);

/** Do the command line's own files exist where they must? CLI_GO_ON, or the exit status. */
int cli_check_files(const struct cli_invocation *inv);

#endif
