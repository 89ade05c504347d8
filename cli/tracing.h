/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One run of the dtrace command line, shared by trace.c, attaching.c, waitfor.c, tracing.c and wake.c. */
#ifndef CLI_TRACING_H
#define CLI_TRACING_H

#include "cli/compiling.h"
#include "cli/process.h"
#include "consumer/consumer.h"
#include "consumer/journal.h"
#include "consumer/terminal.h"
#include "consumer/window.h"
#include "fleet/operator/fleet.h"

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
	const struct con_output_ops *output; /* the form of the output */
	struct con_replaced file;            /* of -o, if the output replaces it */
	int signal_fd, wake_fd;
	int ttl_fd; /* a timer; -1: -x ttl is not set */
	bool expired;
	unsigned interrupts;
	struct con_terminal_patience patience; /* for a reader of the output that does not read */
	struct con_journal journal;
	struct con_joining *joining; /* -g's patterns; NULL: there are none */
	struct fl_fleet *fleet;      /* -g's hosts; NULL: there are none */
	struct con_texts fleet_texts;
	struct fl_nats_config fleet_nats;
	bool fleet_over; /* a host's clause has called exit(), or there is nothing left to trace */
	int fleet_status;
};

/** Enable the program that was compiled, trace until something ends it, print the rest. The exit status. */
int cli_run_trace(struct cli_run *r);

/** Report what tracing a guest costs it, what could not be read of it, and whether it is paused. */
void cli_run_report_guest(struct cli_run *r, uint32_t guest);

/* attaching.c */
/** Create the session and attach the guests of this host that -g names, or the one that was booted.
 * CLI_GO_ON, or the exit status: messages have been printed. */
int cli_run_attach(struct cli_run *r);
/** Sets r->target: with -g none, -c starts a process of this host, and -p names one; else -p names one of the
 * guest's. CLI_GO_ON, or the exit status. */
int cli_run_start_processes(struct cli_run *r);

/* joining.c */
/** Attach the guests that match a pattern. */
OT_MUST_CHECK struct ot_err *cli_run_attach_pattern(struct cli_run *r, const char *pattern);
/** Let guests that match a pattern join the session later; before it is enabled. Not in a comparison, nor
 * with a process as $target. */
OT_MUST_CHECK struct ot_err *cli_run_await(struct cli_run *r);

/* fleet.c */
/** Does this -g name guests of another host? */
bool cli_fleet_means(const struct cli_invocation *inv, const char *spec);
/** Does -g name guests of other hosts? */
bool cli_fleet_is_asked(const struct cli_invocation *inv);
/** Is the request of @p inv possible with them? CLI_GO_ON, or the exit status: the reason has been reported.
 */
int cli_fleet_check(struct cli_invocation *inv);
/** Connect to the hosts. CLI_GO_ON, or the exit status. */
int cli_fleet_open(struct cli_run *r);
/** Have them compile the program. cli_run_compile() then accepts names that only they define. CLI_GO_ON, or
 * the exit status.
 */
int cli_fleet_prepare(struct cli_run *r);
/** All of their probes that matched; those of text number @p text. 0 without hosts; the functions below do
 * nothing without hosts, too. */
uint64_t cli_fleet_matched(const struct cli_run *r);
uint64_t cli_fleet_matched_by(const struct cli_run *r, size_t text);
/** Pass their data to @p sink, which is modified. Call this when there is a consumer, and r->wake_fd. */
OT_MUST_CHECK struct ot_err *cli_fleet_bind(struct cli_run *r, struct vp_sink *sink);
OT_MUST_CHECK struct ot_err *cli_fleet_start(struct cli_run *r);
/** After each poll. Sets r->fleet_over. */
OT_MUST_CHECK struct ot_err *cli_fleet_take(struct cli_run *r);
OT_MUST_CHECK struct ot_err *cli_fleet_stop(struct cli_run *r);
/** Report the fate of the hosts as a message. False: the exit status is an error because of it. */
bool cli_fleet_report(struct cli_run *r);

/** Attach to r->booted when its kernel can be read; an error says why it never can. */
OT_MUST_CHECK struct ot_err *cli_run_attach_booted(struct cli_run *r);

/* waitfor.c */
/** With -x waitfor wait for that process, which is $target then. CLI_GO_ON, or the exit status: messages have
 * been printed. */
int cli_run_wait_for(struct cli_run *r);
/** As cli_compile_asked() into r->comp; for a process that was awaited, retried for as long as its loader may
 * take. */
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
/** @p arg is the run. Has a second signal come? The user then does not want to wait for the rest. */
bool cli_run_is_impatient(void *arg);

#endif
