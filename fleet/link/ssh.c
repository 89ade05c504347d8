/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A carrier through ssh: its standard input and output are a socket, which a pipe carrier speaks over. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "fleet/link/carrier.h"

#define WORDS_MAX   64
/* How long ssh has to end when its input has ended, and then when it is told to. */
#define PATIENCE_NS 500000000ull

struct ssh_carrier {
	struct fl_carrier base;
	struct fl_carrier *pipe;
	pid_t pid; /* 0: it has ended */
	int status;
	char *host;
};

static struct ssh_carrier *ssh_of(struct fl_carrier *c)
{
	return (struct ssh_carrier *)c;
}

/* Wait for ssh's end until that time. */
static void wait_until(struct ssh_carrier *s, uint64_t until)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	while (s->pid) {
		pid_t got = waitpid(s->pid, &s->status, WNOHANG);

		/* An error: somebody else has waited for it. */
		if (got == s->pid || (got < 0 && errno != EINTR))
			s->pid = 0;
		else if (ot_now_ns() >= until)
			return;
		else
			nanosleep(&moment, NULL);
	}
}

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct ssh_carrier *s = ssh_of(c);

	return s->pipe->ops->send(s->pipe, packet, len);
}

static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct ssh_carrier *s = ssh_of(c);
	struct ot_err *err = s->pipe->ops->receive(s->pipe, ret, ret_len);

	if (!err || ot_err_errno(err) != EPIPE)
		return err;
	/* ssh has closed, so it is about to end, and what it says of the reason is its status. */
	wait_until(s, ot_now_ns() + PATIENCE_NS);
	if (s->pid || !WIFEXITED(s->status) || !WEXITSTATUS(s->status))
		return err;
	ot_err_destroy(err);
	return ot_err_os(EPIPE, "ssh to %s ended with status %d", s->host, WEXITSTATUS(s->status));
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	struct ssh_carrier *s = ssh_of(c);

	return s->pipe->ops->fd(s->pipe, ret_out);
}

static bool op_busy(struct fl_carrier *c)
{
	struct ssh_carrier *s = ssh_of(c);

	return s->pipe->ops->busy(s->pipe);
}

static void op_destroy(struct fl_carrier *c)
{
	struct ssh_carrier *s = ssh_of(c);
	static const int signals[] = { SIGTERM, SIGKILL };

	fl_carrier_destroy(s->pipe);
	wait_until(s, ot_now_ns() + PATIENCE_NS);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(signals) && s->pid; i++) {
		kill(s->pid, signals[i]);
		wait_until(s, i ? UINT64_MAX : ot_now_ns() + PATIENCE_NS);
	}
	free(s->host);
	free(s);
}

/* The child, on its way to being ssh. Ctrl-C is the operator's process's to answer: it says STOP, for which
 * ssh is needed. ssh leaves what was ignored ignored. */
static OT_NORETURN void become(char *const *argv, int sock, int report)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	ot_signals_unblock();
	sock = fcntl(sock, F_DUPFD_CLOEXEC, STDERR_FILENO + 1); /* it may be one of those two */
	if (dup2(sock, STDIN_FILENO) >= 0 && dup2(sock, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);

	int err = errno;

	_exit(write(report, &err, sizeof(err)) == sizeof(err) ? 126 : 127);
}

static struct ot_err *start(char *const *argv, int sock, pid_t *ret_pid)
{
	int report[2], failed = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");

	pid_t pid = fork();

	if (!pid)
		become(argv, sock, report[1]);

	int err = errno;

	close(report[1]);
	/* Nothing comes: exec() has closed it. */
	ssize_t n = pid < 0 ? 0 : read(report[0], &failed, sizeof(failed));

	close(report[0]);
	if (pid < 0)
		return ot_err_os(err, "starting %s", argv[0]);
	if (n > 0) {
		waitpid(pid, NULL, 0);
		return ot_err_os(failed, "starting %s", argv[0]);
	}
	*ret_pid = pid;
	return NULL;
}

/* Words for the shell, options and what ends a line have no place in a host's name. */
static bool is_host(const char *host)
{
	const char *at = strrchr(host, '@');
	const char *name = at ? at + 1 : host;

	for (const char *p = host; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"'`$\\;&<>|(){}*?!#", *p))
			return false;
	return host[0] && host[0] != '-' && name[0] && name[0] != '-';
}

/* Start what $OUTSIGHT_SSH has, or ssh; *words is cut up. */
static struct ot_err *start_words(char *words, const char *host, int sock, pid_t *ret_pid)
{
	char *argv[WORDS_MAX + 4], *rest = NULL;
	size_t n = 0;

	for (char *w = strtok_r(words, " ", &rest); w; w = strtok_r(NULL, " ", &rest)) {
		if (n == WORDS_MAX)
			return ot_err_new(OT_ERR_LIMIT, "OUTSIGHT_SSH has more than %d words", WORDS_MAX);
		argv[n++] = w;
	}
	if (!n)
		return ot_err_new(OT_ERR_SYNTAX, "OUTSIGHT_SSH names no program");
	argv[n++] = (char *)(uintptr_t)host;
	argv[n++] = (char *)(uintptr_t) "outsight-serve";
	argv[n++] = (char *)(uintptr_t) "--stdio";
	argv[n] = NULL;
	return start(argv, sock, ret_pid);
}

static struct ot_err *open_ssh(struct ssh_carrier *s, const char *host)
{
	const char *set = getenv("OUTSIGHT_SSH");
	ot_auto_free char *words = strdup(set ? set : "ssh");
	int socks[2];

	s->host = strdup(host);
	if (!words || !s->host)
		return ot_err_nomem();
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		return ot_err_os(errno, "socketpair");

	struct ot_err *err = start_words(words, host, socks[1], &s->pid);

	close(socks[1]);
	if (err) {
		close(socks[0]);
		return err;
	}
	return fl_pipe_create(socks[0], socks[0], &s->pipe);
}

struct ot_err *fl_ssh_create(const char *host, struct fl_carrier **ret)
{
	static const struct fl_carrier_ops ops = {
		.name = "ssh",
		.is_reliable = true,
		.send = op_send,
		.receive = op_receive,
		.busy = op_busy,
		.fd = op_fd,
		.destroy = op_destroy,
	};

	if (!is_host(host))
		return ot_err_new(OT_ERR_SYNTAX, "\"%s\" is no host's name", host);

	struct ssh_carrier *s = calloc(1, sizeof(*s));

	if (!s)
		return ot_err_nomem();
	s->base.ops = &ops;

	struct ot_err *err = open_ssh(s, host);

	if (err) {
		op_destroy(&s->base);
		return err;
	}
	*ret = &s->base;
	return NULL;
}
