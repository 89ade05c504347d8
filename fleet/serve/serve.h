/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the program outsight-serve. */
#ifndef FLEET_SERVE_SERVE_H
#define FLEET_SERVE_SERVE_H

#include <sys/types.h>

#include "fleet/link/broker.h"
#include "fleet/serve/conf.h"
#include "fleet/serve/standing/counts.h"
#include "fleet/serve/ticket.h"

enum { FL_EXIT_OK = 0, FL_EXIT_FAILED = 1, FL_EXIT_USAGE = 2 };

/* --- log.c -------------------------------------------------------------------------------------------- */

/** Write a line to the system log; also to standard error if @p verbose, or if there is no log. */
void fl_serve_log(const char *line);
void fl_serve_log_verbosely(void);
bool fl_serve_log_is_verbose(void);
/** Log the fatal error, and free @p err; returns FL_EXIT_FAILED. */
int fl_serve_fail(struct ot_err *err);

/* --- become.c ----------------------------------------------------------------------------------------- */

/** In a child, between fork() and exec(), of a process with threads: execute this program with @p argv, no
 * signal blocked, and @p fd as its descriptor @p number, from 3 on, and the only one besides the standard
 * ones. It gets SIGTERM when @p parent ends, however that ends. */
_Noreturn void fl_serve_become(char *const *argv, int fd, int number, pid_t parent);

/* --- daemon.c, session.c ------------------------------------------------------------------------------ */

/** Answer requests until SIGTERM or SIGINT; the exit status. @p merges: invitations of mergers, no others. */
int fl_serve_daemon(const char *conf_path, const char *nats, bool merges);
/** One session, of the ticket at FL_TICKET_FD; the exit status. */
int fl_serve_session(const char *conf_path, const char *nats);
/** Maximum silence of an operator, ns. Tests shorten it by the environment, because they can't wait ten
 * seconds each time; it can't be made longer. */
uint64_t fl_serve_lease_ns(void);
/** For guests whose memory has no symbols, such as those of tests: a file from the environment; NULL. */
const char *fl_serve_vmlinux(void);

/* --- metrics.c ---------------------------------------------------------------------------------------- */

/* The process of standing programs and metrics (standing/run.h). */
struct fl_metrics_process {
	pid_t pid;    /* 0: it does not run */
	uint64_t due; /* when it is started again */
	struct fl_counts *counts;
	int counts_fd;
};

/** What that process is. */
int fl_serve_metrics(const char *conf_path);
OT_MUST_CHECK struct ot_err *fl_metrics_open(struct fl_metrics_process *m);
/** Start it if it is due, and reap it if it has ended; returns in how many ms this is due again, -1: when
 * something has happened. */
int fl_metrics_step(struct fl_metrics_process *m, const char *conf_path);
/** Make it read its folder again, by SIGHUP. */
void fl_metrics_reload(const struct fl_metrics_process *m);
/** End it, and wait for it. */
void fl_metrics_end(struct fl_metrics_process *m);

/* --- guests.c ----------------------------------------------------------------------------------------- */

#define FL_LIST_FD 3

/*
 * The guests of this host, as listed by `outsight guests`. Engines and VMMs are asked and kernels are read,
 * which may take seconds: a separate process does it, and its output is treated as hostile.
 */
struct fl_guests {
	pid_t pid;                  /* of that process; 0: none lists */
	int fd;                     /* of its output; -1: at its end */
	uint64_t end_ns;            /* its deadline */
	struct ot_buf coming, list; /* fl_body_put_presence() */
	uint64_t listed_ns;         /* time of the list; 0: there is none */
};

/** What that process is. */
int fl_serve_list(void);
void fl_guests_init(struct fl_guests *g);
/** End it, and wait for it. */
void fl_guests_deinit(struct fl_guests *g);
/** Append those that @p operator may trace and that match @p pattern. False: they are being listed now; a
 * list is valid for two seconds. */
bool fl_guests_tell(struct fl_guests *g, const struct fl_conf_operator *operator, const char * pattern,
		    struct ot_buf *out);
/** Read its output. *ret_ended: a list is complete, or there will be none. Returns in how many ms this is due
 * again; -1: when fd is readable or a child has ended. */
int fl_guests_step(struct fl_guests *g, bool *ret_ended);

/* --- questions.c -------------------------------------------------------------------------------------- */

#define FL_QUESTIONS_MAX 64u

/* Questions that wait for the list, in order of arrival. */
struct fl_questions {
	struct fl_question {
		struct ot_buf data;
		char reply[FL_BROKER_SUBJECT];
	} items[FL_QUESTIONS_MAX];
	unsigned count;
};

/** Queue a copy of @p m, which has a reply. Without room it is dropped: its sender asks again. */
void fl_questions_add(struct fl_questions *q, const struct fl_broker_message *m);
/** Pass each to @p take, which must not keep it, and remove it. */
void fl_questions_answer(struct fl_questions *q, void (*take)(void *arg, const struct fl_broker_message *m),
			 void *arg);
void fl_questions_clear(struct fl_questions *q);

/* --- workers.c ---------------------------------------------------------------------------------------- */

/* A process for each session. */
struct fl_session_process {
	pid_t pid;
	uint8_t key[FL_PUBLIC]; /* its operator's */
	char operator[FL_NAME_MAX + 1];
	char session[FL_SESSION_TEXT];
	uint64_t end_ns; /* the time to kill it, after it was asked to end; 0: it was not asked */
};

struct fl_workers {
	struct fl_session_process items[FL_WORKERS_MAX];
	unsigned count;
	uint64_t failed; /* that ended abnormally since the daemon's start */
};

/** Start this program again as the session of @p ticket. */
OT_MUST_CHECK struct ot_err *fl_workers_start(struct fl_workers *workers, const char *conf_path,
					      const char *nats, const char *operator,
					      const struct fl_ticket * ticket);
/** Ask the sessions to end whose operator is not in @p after, or has other rights than in @p before. */
void fl_workers_revoke(struct fl_workers *workers, const struct fl_conf *before, const struct fl_conf *after);
/** Reap processes that have ended; abnormal ends are logged. A process that was asked to end and does not
 * within ten seconds is killed, which also leaves guests clean. Returns in how many ms this is due again; -1:
 * when a child has ended. */
int fl_workers_step(struct fl_workers *workers);
/** Ask all to end, and wait for it. */
void fl_workers_end(struct fl_workers *workers);

#endif
