/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the program outsight-serve. */
#ifndef FLEET_SERVE_SERVE_H
#define FLEET_SERVE_SERVE_H

#include <sys/types.h>

#include "fleet/serve/conf.h"
#include "fleet/serve/standing/counts.h"
#include "fleet/serve/ticket.h"

enum { FL_EXIT_OK = 0, FL_EXIT_FAILED = 1, FL_EXIT_USAGE = 2 };

/* --- log.c -------------------------------------------------------------------------------------------- */

/** A line to the system's log; and to standard error, where no log takes it or @p verbose was asked for. */
void fl_serve_log(const char *line);
void fl_serve_log_verbosely(void);
bool fl_serve_log_is_verbose(void);
/** Say why nothing can be done, and free @p err; FL_EXIT_FAILED. */
int fl_serve_fail(struct ot_err *err);

/* --- become.c ----------------------------------------------------------------------------------------- */

/** In a child, between fork() and exec(), of a process with threads: execute this program with @p argv, no
 * signal blocked, and @p fd as its descriptor @p number. */
_Noreturn void fl_serve_become(char *const *argv, int fd, int number);

/* --- daemon.c, session.c ------------------------------------------------------------------------------ */

/** Answer requests until SIGTERM or SIGINT; the exit status. */
int fl_serve_daemon(const char *conf_path, const char *nats);
/** One session, of the ticket at FL_TICKET_FD; the exit status. */
int fl_serve_session(const char *conf_path, const char *nats);
/** How long an operator may be silent, ns. A test can't wait for ten seconds each time: shorter by the
 * environment, never longer. */
uint64_t fl_serve_lease_ns(void);
/** For guests whose memory has no symbols, as those of tests: a file of the environment's; NULL. */
const char *fl_serve_vmlinux(void);

/* --- metrics.c ---------------------------------------------------------------------------------------- */

/* The process of standing programs and metrics (standing/run.h). */
struct fl_metrics_process {
	pid_t pid;    /* 0: it does not run */
	uint64_t due; /* when it begins again */
	struct fl_counts *counts;
	int counts_fd;
};

/** What that process is. */
int fl_serve_metrics(const char *conf_path);
OT_MUST_CHECK struct ot_err *fl_metrics_open(struct fl_metrics_process *m);
/** Start it, if it is time to, and take it if it has ended; in how many ms this is due again, -1: when
 * something has happened. */
int fl_metrics_step(struct fl_metrics_process *m, const char *conf_path);
/** SIGHUP: it reads its folder again. */
void fl_metrics_reload(const struct fl_metrics_process *m);
/** End it, and wait for it. */
void fl_metrics_end(struct fl_metrics_process *m);

/* --- guests.c ----------------------------------------------------------------------------------------- */

/** struct fl_gate's guests(): the guests of this host, as `outsight guests` has them, listed at most once in
 * two seconds. */
void fl_serve_guests(const struct fl_conf_operator *operator, const char * pattern, struct ot_buf *out);

/* --- workers.c ---------------------------------------------------------------------------------------- */

/* A process for each session. */
struct fl_session_process {
	pid_t pid;
	char operator[FL_NAME_MAX + 1];
	char session[FL_SESSION_TEXT];
};

struct fl_workers {
	struct fl_session_process items[FL_WORKERS_MAX];
	unsigned count;
	uint64_t failed; /* that ended otherwise than as they should, since the daemon began */
};

/** Start this program again as the session of @p ticket. */
OT_MUST_CHECK struct ot_err *fl_workers_start(struct fl_workers *workers, const char *conf_path,
					      const char *nats, const char *operator,
					      const struct fl_ticket * ticket);
/** Take those that have ended; how they ended goes to the log, if it was not as it should be. */
void fl_workers_reap(struct fl_workers *workers);
/** Ask all to end, and wait for it; those that do not within ten seconds are killed, which leaves guests
 * clean as well. */
void fl_workers_end(struct fl_workers *workers);

#endif
