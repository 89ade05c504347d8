/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session as a child process: see feed.h. */
#include "cli/top/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define LINE_MAX_BYTES (1u << 20) /* a longer one is omitted */
#define SAID_MAX_BYTES (64u << 10)
#define WAIT_NS        3000000000ull

void cli_top_feed_init(struct cli_top_feed *f)
{
	*f = (struct cli_top_feed){ .out = -1, .err = -1 };
}

/* --- life ------------------------------------------------------------------------------------------------ */

/* It ends with its parent, in whatever way that ends. */
static _Noreturn void become(const char *const *argv, int out, int err, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(127);
	setpgid(0, 0); /* the view handles Ctrl-C, and ends it */
	execv("/proc/self/exe", (char *const *)(uintptr_t)argv);
	_exit(127);
}

struct ot_err *cli_top_feed_start(struct cli_top_feed *f, const char *const *argv)
{
	int out[2], err[2];
	pid_t parent = getpid();

	cli_top_feed_stop(f);
	if (pipe2(out, O_CLOEXEC) < 0)
		return ot_err_os(errno, "a pipe");
	if (pipe2(err, O_CLOEXEC) < 0) {
		int e = errno;
		close(out[0]);
		close(out[1]);
		return ot_err_os(e, "a pipe");
	}
	pid_t pid = fork();
	if (!pid)
		become(argv, out[1], err[1], parent);
	int e = errno;
	close(out[1]);
	close(err[1]);
	if (pid < 0) {
		close(out[0]);
		close(err[0]);
		return ot_err_os(e, "a process");
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	f->pid = pid;
	f->out = out[0];
	f->err = err[0];
	return NULL;
}

static void close_all(struct cli_top_feed *f)
{
	ot_cleanup_close(&f->out);
	ot_cleanup_close(&f->err);
	ot_buf_deinit(&f->line);
	f->pid = 0;
	f->out = f->err = -1;
}

static void reap(void)
{
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
}

void cli_top_feed_stop(struct cli_top_feed *f)
{
	if (f->pid)
		kill(f->pid, SIGTERM);
	close_all(f);
	ot_buf_deinit(&f->said);
	reap();
}

void cli_top_feed_wait_all(void)
{
	uint64_t until = ot_now_ns() + WAIT_NS;
	const struct timespec pause = ot_timespec(5000000);

	while (ot_now_ns() < until) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0)
			return; /* there are no more */
		if (!pid)
			nanosleep(&pause, NULL);
	}
}

/* --- reading --------------------------------------------------------------------------------------------- */

static void take_lines(struct ot_buf *line, const char *data, size_t n,
		       void (*take)(void *arg, const char *line), void *arg)
{
	while (n) {
		const char *end = memchr(data, '\n', n);
		size_t len = end ? (size_t)(end - data) : n;

		if (line->len < LINE_MAX_BYTES)
			ot_buf_append(line, data, len);
		if (!end)
			return;
		if (!line->failed && line->len < LINE_MAX_BYTES)
			take(arg, ot_buf_str(line));
		ot_buf_deinit(line);
		data += len + 1;
		n -= len + 1;
	}
}

/* 0: nothing now; below 0: it is closed. */
static ssize_t read_some(int fd, char *buf, size_t size)
{
	ssize_t n = fd < 0 ? 0 : read(fd, buf, size);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	return n > 0 ? n : -1;
}

bool cli_top_feed_read(struct cli_top_feed *f, void (*take)(void *arg, const char *line), void *arg)
{
	char buf[16384];
	ssize_t n = 0;

	if (!f->pid)
		return false;
	/* stderr first: the last messages are there when stdout ends */
	while ((n = read_some(f->err, buf, sizeof(buf))) > 0)
		if (f->said.len < SAID_MAX_BYTES)
			ot_buf_append(&f->said, buf, (size_t)n);
	while ((n = read_some(f->out, buf, sizeof(buf))) > 0)
		take_lines(&f->line, buf, (size_t)n, take, arg);
	if (!n)
		return true;
	close_all(f);
	reap();
	return false;
}

void cli_top_feed_message(const struct cli_top_feed *f, char *buf, size_t size)
{
	static const char prefix[] = "dtrace: ";
	const char *last = "";

	for (const char *p = ot_buf_str(&f->said); *p; p += strcspn(p, "\n"), p += *p == '\n')
		if (*p != ' ' && *p != '\n')
			last = p;
	if (!strncmp(last, prefix, sizeof(prefix) - 1))
		last += sizeof(prefix) - 1;
	snprintf(buf, size, "%.*s", (int)strcspn(last, "\n"), last);
}
