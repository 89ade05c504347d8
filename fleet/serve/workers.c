/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions as processes of their own: what goes wrong in one, by a guest's doing or an operator's, is not in
 * the daemon, which has this host's key. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "fleet/serve/serve.h"

#define END_NS 10000000000ull

/* A file in memory, to be read from its beginning. */
static struct ot_err *write_ticket(const struct fl_ticket *ticket, int *ret)
{
	ot_auto_close int fd = memfd_create("ticket", MFD_CLOEXEC);
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	if (fd < 0)
		return ot_err_os(errno, "memfd_create");
	ot_buf_init(&out);
	fl_ticket_put(&out, ticket);
	struct ot_err *err = out.failed ? ot_err_nomem() : ot_write_all(fd, out.data, out.len);

	if (out.data)
		explicit_bzero(out.data, out.len);
	OT_TRY(err);
	if (lseek(fd, 0, SEEK_SET) < 0)
		return ot_err_os(errno, "lseek");
	*ret = ot_move_fd(fd);
	return NULL;
}

struct ot_err *fl_workers_start(struct fl_workers *workers, const char *conf_path, const char *nats,
				const char *operator, const struct fl_ticket * ticket)
{
	char *argv[] = { (char *)"outsight-serve", (char *)"--session", (char *)(uintptr_t)conf_path,
			 (char *)(uintptr_t)nats, NULL };
	ot_auto_close int fd = -1;

	if (workers->count == FL_WORKERS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%u sessions run already", workers->count);
	OT_TRY(write_ticket(ticket, &fd));
	pid_t pid = fork();

	if (pid < 0)
		return ot_err_os(errno, "fork");
	if (!pid)
		fl_serve_become(argv, fd, FL_TICKET_FD);
	struct fl_session_process *w = &workers->items[workers->count++];

	w->pid = pid;
	snprintf(w->operator, sizeof(w->operator), "%s", operator);
	snprintf(w->session, sizeof(w->session), "%s", ticket->session);
	return NULL;
}

static void report(const struct fl_session_process *w, int status)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };

	ot_buf_init(&line);
	if (WIFSIGNALED(status))
		ot_buf_printf(&line, "fleet: the process of a session was ended by signal %d (%s)",
			      WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		ot_buf_printf(&line, "fleet: a session failed");
	else
		ot_buf_puts(&line, "fleet: a session ended");
	ot_buf_printf(&line, ": operator=%s session=%s pid=%d", w->operator, w->session, (int)w->pid);
	if (!line.failed)
		fl_serve_log(line.data);
}

void fl_workers_reap(struct fl_workers *workers)
{
	int status;

	for (unsigned i = 0; i < workers->count;) {
		struct fl_session_process *w = &workers->items[i];

		if (waitpid(w->pid, &status, WNOHANG) != w->pid) {
			i++;
			continue;
		}
		report(w, status);
		workers->failed += status != 0;
		*w = workers->items[--workers->count];
	}
}

static void signal_all(const struct fl_workers *workers, int signal)
{
	for (unsigned i = 0; i < workers->count; i++)
		kill(workers->items[i].pid, signal);
}

void fl_workers_end(struct fl_workers *workers)
{
	uint64_t end = ot_now_ns() + END_NS;

	signal_all(workers, SIGTERM);
	while (workers->count && ot_now_ns() < end) {
		poll(NULL, 0, 20);
		fl_workers_reap(workers);
	}
	signal_all(workers, SIGKILL);
	while (workers->count) {
		poll(NULL, 0, 20);
		fl_workers_reap(workers);
	}
}
