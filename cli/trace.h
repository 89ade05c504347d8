/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dtrace command line: attach, compile, list or trace, print. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "cli/options.h"

/* A guest that was booted for this session (`outsight run`). */
struct cli_booted {
	const char *socket;
	/* Asked while its kernel comes up: false gives up. */
	bool (*alive)(void *arg);
	void *arg;
};

/** Do what the command line asks for; @p booted NULL: on guests that run already. Returns the exit
 * status; messages have been printed. */
int cli_trace(struct cli_invocation *inv, const struct cli_booted *booted);

#endif
