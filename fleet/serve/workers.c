/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sessions are separate processes: a fault in one, caused by a guest or an operator, is not in the daemon,
 * which has this host's key. */
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

/* A file in memory, positioned at its beginning. */
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
	const pid_t parent = getpid();
	pid_t pid = fork();

	if (pid < 0)
		return ot_err_os(errno, "fork");
	if (!pid)
		fl_serve_become(argv, fd, FL_TICKET_FD, parent);
	struct fl_session_process *w = &workers->items[workers->count++];

	*w = (struct fl_session_process){ .pid = pid };
	memcpy(w->key, ticket->operator, FL_PUBLIC);
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

static void reap(struct fl_workers *workers)
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

static void ask_to_end(struct fl_session_process *w)
{
	if (w->end_ns)
		return;
	kill(w->pid, SIGTERM);
	w->end_ns = ot_now_ns() + END_NS;
}

int fl_workers_step(struct fl_workers *workers)
{
	uint64_t due = UINT64_MAX;

	reap(workers);
	for (unsigned i = 0; i < workers->count; i++) {
		struct fl_session_process *w = &workers->items[i];

		if (w->end_ns && ot_now_ns() >= w->end_ns)
			kill(w->pid, SIGKILL);
		else if (w->end_ns && w->end_ns < due)
			due = w->end_ns;
	}
	return due == UINT64_MAX ? -1 : ot_ms_until(due) + 1;
}

void fl_workers_revoke(struct fl_workers *workers, const struct fl_conf *before, const struct fl_conf *after)
{
	for (unsigned i = 0; i < workers->count; i++) {
		struct fl_session_process *w = &workers->items[i];
		const struct fl_conf_operator *was = fl_conf_find(before, w->key);
		const struct fl_conf_operator *is = fl_conf_find(after, w->key);
		char line[256];

		if (w->end_ns || (was && is && fl_conf_same_rights(was, is)))
			continue;
		snprintf(line, sizeof(line), "fleet: serve.conf %s: operator=%s session=%s ends",
			 is ? "has other rights" : "no longer has the operator", w->operator, w->session);
		fl_serve_log(line);
		ask_to_end(w);
	}
}

void fl_workers_end(struct fl_workers *workers)
{
	for (unsigned i = 0; i < workers->count; i++)
		ask_to_end(&workers->items[i]);
	while (workers->count) {
		(void)fl_workers_step(workers);
		poll(NULL, 0, 20);
	}
}
