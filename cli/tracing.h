/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of the dtrace command line, shared by trace.c, waitfor.c, tracing.c and wake.c. */
#ifndef CLI_TRACING_H
#define CLI_TRACING_H

#include "cli/compiling.h"
#include "cli/process.h"
#include "consumer/consumer.h"
#include "consumer/journal.h"
#include "consumer/terminal.h"
#include "consumer/window.h"

struct cli_booted;
struct con_joining;

struct cli_run {
	struct cli_invocation *inv;
	const struct cli_booted *booted;
	struct vp_session *session;
	struct con_compilation comp;
	struct cli_processes procs;
	pid_t target; /* $target, of the guest's or with -g none of this host's processes; 0: none */
	struct con_consumer consumer;
	struct con_window window; /* of a comparison */
	FILE *out;
	const struct con_output_ops *output; /* what the data is written as */
	struct con_replaced file;            /* of -o, if the output replaces it */
	int signal_fd, wake_fd;
	int ttl_fd; /* a timer; -1: -x ttl is not set */
	bool expired;
	unsigned interrupts;
	struct con_terminal_patience patience; /* with a reader of the output that does not read */
	struct con_journal journal;
	struct con_joining *joining; /* -g's patterns; NULL: there are none */
};

/** Enable the program that was compiled, trace until something ends it, print the rest. The exit status. */
int cli_run_trace(struct cli_run *r);

/** Report what tracing a guest costs it, what could not be read of it, and whether it is paused. */
void cli_run_report_guest(struct cli_run *r, uint32_t guest);

/* joining.c */
/** Attach the guests that a pattern means. */
OT_MUST_CHECK struct ot_err *cli_run_attach_pattern(struct cli_run *r, const char *pattern);
/** Let guests that a pattern means join the session later; before it is enabled. Not in a comparison, nor
 * with a process as $target. */
OT_MUST_CHECK struct ot_err *cli_run_await(struct cli_run *r);

/** Attach to r->booted when its kernel can be read; an error says why it never can. */
OT_MUST_CHECK struct ot_err *cli_run_attach_booted(struct cli_run *r);

/* waitfor.c */
/** With -x waitfor wait for that process, which is $target then. CLI_GO_ON, or the exit status: messages have
 * been printed. */
int cli_run_wait_for(struct cli_run *r);
/** As cli_compile_asked() into r->comp; of a process that was awaited for as long as its loader may take. */
int cli_run_compile(struct cli_run *r);

/* wake.c */
/** From here on the signals that end a session are read from a descriptor, not delivered; r->wake_fd is
 * readable when one came, one of r->procs ended, or the output has lost its reader. */
OT_MUST_CHECK struct ot_err *cli_run_watch(struct cli_run *r);
void cli_run_unwatch(struct cli_run *r);
/** -x ttl, from when tracing starts; after cli_run_watch(). */
OT_MUST_CHECK struct ot_err *cli_run_start_ttl(struct cli_run *r);
/** Sets r->expired when the time is over. */
void cli_run_read_ttl(struct cli_run *r);
/** Counts signals in r->interrupts. */
void cli_run_read_signals(struct cli_run *r);
/** @p arg is the run. A second signal came: the user does not want to wait for the rest. */
bool cli_run_is_impatient(void *arg);

#endif
