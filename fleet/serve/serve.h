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

/** A line to the system's log; and to standard error, where no log takes it or @p verbose was asked for. */
void fl_serve_log(const char *line);
void fl_serve_log_verbosely(void);
bool fl_serve_log_is_verbose(void);
/** Say why nothing can be done, and free @p err; FL_EXIT_FAILED. */
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

#define FL_LIST_FD 3

/*
 * The guests of this host, as `outsight guests` has them. Engines and VMMs are asked for them, which may take
 * seconds, and kernels are read: so a process of its own does it, and what it says is read as hostile.
 */
struct fl_guests {
	pid_t pid;                  /* of that process; 0: none lists */
	int fd;                     /* of what it says; -1: it has said all */
	uint64_t end_ns;            /* when it is killed */
	struct ot_buf coming, list; /* fl_body_put_presence() */
	uint64_t listed_ns;         /* when the list was; 0: there is none */
};

/** What that process is. */
int fl_serve_list(void);
void fl_guests_init(struct fl_guests *g);
/** End it, and wait for it. */
void fl_guests_deinit(struct fl_guests *g);
/** Append those that @p operator may trace and @p pattern means. False: they are being listed now; a list is
 * good for two seconds. */
bool fl_guests_tell(struct fl_guests *g, const struct fl_conf_operator *operator, const char * pattern,
		    struct ot_buf *out);
/** Take what has come. *ret_ended: a list is there, or none can be had. In how many ms this is due again; -1:
 * when fd is readable or a child has ended. */
int fl_guests_step(struct fl_guests *g, bool *ret_ended);

/* --- questions.c -------------------------------------------------------------------------------------- */

#define FL_QUESTIONS_MAX 64u

/* Questions that wait for the list, as they came. */
struct fl_questions {
	struct fl_question {
		struct ot_buf data;
		char reply[FL_BROKER_SUBJECT];
	} items[FL_QUESTIONS_MAX];
	unsigned count;
};

/** A copy of @p m, which has a reply. Without room it is left out: its asker asks again. */
void fl_questions_add(struct fl_questions *q, const struct fl_broker_message *m);
/** Give each to @p take, which may keep nothing of it, and forget it. */
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
	uint64_t end_ns; /* it was asked to end, and is killed then; 0: it was not */
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
/** Ask those to end whose operator @p after does not have any more, or with other rights than @p before. */
void fl_workers_revoke(struct fl_workers *workers, const struct fl_conf *before, const struct fl_conf *after);
/** Take those that have ended; how they ended goes to the log, if it was not as it should be. One that was
 * asked to end and does not within ten seconds is killed, which leaves guests clean as well. In how many ms
 * this is due again; -1: when a child has ended. */
int fl_workers_step(struct fl_workers *workers);
/** Ask all to end, and wait for it. */
void fl_workers_end(struct fl_workers *workers);

#endif
