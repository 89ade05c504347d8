/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes of this host (with -g none): -c starts commands (held at their first instruction until tracing
 * runs), -p watches processes that run already. A session ends when the last of them has exited.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include "cli/options.h"

struct cli_process {
	pid_t pid;
	int fd;     /* readable when it has ended; -1: it has */
	bool child; /* ours: its status is known */
	bool held;  /* to be resumed */
};

struct cli_processes {
	struct cli_process *items;
	size_t count, cap;
	size_t live;
};

/** -p's argument. SYNTAX: it is not a process's number. */
OT_MUST_CHECK struct ot_err *cli_process_number(const char *text, pid_t *ret);

/** Start -c's, watch -p's. NOT_FOUND and others name the command or process. */
OT_MUST_CHECK struct ot_err *cli_processes_start(struct cli_processes *procs,
						 const struct cli_invocation *inv);
/** Commands that are still held are killed; others continue. */
void cli_processes_deinit(struct cli_processes *procs);

/** Let the commands run. */
void cli_processes_release(struct cli_processes *procs);

/** Report those that have ended ("pid 12 has exited"). */
void cli_processes_check(struct cli_processes *procs, const struct dif_options *opts);

#endif
