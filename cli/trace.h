/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The dtrace command line: attach, compile, list or trace, print. */
#ifndef CLI_TRACE_H
#define CLI_TRACE_H

#include "cli/options.h"

/* A guest that was booted for this session (`outsight run`). */
struct cli_booted {
	const char *socket;
	/* Called while its kernel boots: false gives up. */
	bool (*alive)(void *arg);
	/* Why it failed, as an error; NULL: unknown. @p wait_ms: how long to wait for its end. The callback
	 * may be NULL. */
	struct ot_err *(*trouble)(void *arg, int wait_ms);
	void *arg;
};

/** For struct vp_attach_opts.entering: a line in the system's log and a message, for a guest into whose VMM
 * an engine is about to be injected. */
void cli_entering(void *arg, const char *guest, uint32_t pid, const char *why);

/** Carry out the command line; @p booted NULL: on guests that run already. Returns the exit status; messages
 * have been printed. */
int cli_trace(struct cli_invocation *inv, const struct cli_booted *booted);

#endif
