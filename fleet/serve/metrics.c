/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Standing programs and metrics in a process of their own, beside the daemon that has this host's key. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "fleet/serve/serve.h"
#include "fleet/serve/standing/run.h"

#define PAUSE_NS (5u * OT_NS_PER_SEC)

/* --- in that process ------------------------------------------------------------------------------------ */

int fl_serve_metrics(const char *conf_path)
{
	const struct fl_counts *counts = NULL;
	struct ot_arena arena;
	struct fl_conf conf;
	int status = FL_EXIT_OK;

	ot_arena_init(&arena);
	struct ot_err *err = fl_counts_map(FL_COUNTS_FD, &counts);

	if (!err)
		err = fl_conf_read(conf_path, &arena, &conf);
	if (!err)
		err = fl_standing_run(&conf, counts, fl_serve_log);
	if (err) {
		fl_serve_log(ot_err_message(err));
		ot_err_destroy(err);
		status = FL_EXIT_FAILED;
	}
	ot_arena_deinit(&arena);
	return status;
}

/* --- in the daemon -------------------------------------------------------------------------------------- */

struct ot_err *fl_metrics_open(struct fl_metrics_process *m)
{
	return fl_counts_create(&m->counts, &m->counts_fd);
}

/* In the child, between fork() and exec(). */
static _Noreturn void become(const char *conf_path, int counts, pid_t parent)
{
	const char *argv[] = { "outsight-serve", "--standing", conf_path,
			       fl_serve_log_is_verbose() ? "--verbose" : NULL, NULL };

	fl_serve_become((char *const *)(uintptr_t)argv, counts, FL_COUNTS_FD, parent);
}

static void report(int status)
{
	char line[128];

	if (WIFSIGNALED(status))
		snprintf(line, sizeof(line), "metrics: their process was ended by signal %d (%s)",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(line, sizeof(line), "metrics: their process ended with status %d",
			 WEXITSTATUS(status));
	fl_serve_log(line);
}

int fl_metrics_step(struct fl_metrics_process *m, const char *conf_path)
{
	uint64_t now = ot_now_ns();
	pid_t parent = getpid();
	int status;

	if (m->counts_fd < 0)
		return -1; /* serve.conf had no metrics when the daemon began */
	if (m->pid > 0 && waitpid(m->pid, &status, WNOHANG) == m->pid) {
		report(status);
		m->pid = 0;
		m->due = now + PAUSE_NS;
	}
	if (m->pid <= 0 && now >= m->due) {
		m->due = now + PAUSE_NS;
		m->pid = fork();
		if (!m->pid)
			become(conf_path, m->counts_fd, parent);
	}
	return m->pid > 0 ? -1 : ot_ms_until(m->due);
}

void fl_metrics_reload(const struct fl_metrics_process *m)
{
	if (m->pid > 0)
		kill(m->pid, SIGHUP);
}

void fl_metrics_end(struct fl_metrics_process *m)
{
	if (m->pid > 0) {
		kill(m->pid, SIGTERM);
		waitpid(m->pid, NULL, 0); /* it kills programs that don't end within ten seconds */
	}
	if (m->counts)
		munmap(m->counts, sizeof(*m->counts));
	if (m->counts_fd >= 0)
		close(m->counts_fd);
	*m = (struct fl_metrics_process){ .counts_fd = -1 };
}
