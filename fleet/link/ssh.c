/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A carrier over ssh. A socket is its standard input and output, over which a pipe carrier runs. A pipe is
 * its standard error, whose lines are shown with the host's name. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/thread.h"
#include "base/utf8.h"
#include "fleet/link/carrier.h"
#include "fleet/link/lines.h"
#include "fleet/link/packet.h"

#define WORDS_MAX   64
/* Grace periods for ssh after its input has ended, and then after a signal. */
#define PATIENCE_NS 500000000ull
/* A packet's length and its magic: bytes without them are not a packet. */
#define BEGINNING   8
#define QUOTED_MAX  60

/* Exit statuses of the shell by which sshd runs the command. */
enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

struct ssh_carrier {
	struct fl_carrier base;
	struct fl_carrier *pipe;
	struct fl_lines lines;
	int epoll;  /* of the pipe and the lines */
	bool waits; /* it waits until the pipe is writable */
	bool heard; /* a packet was received, so outsight-serve answers */
	pid_t pid;  /* 0: ssh has ended */
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

		/* An error: another part of the process has waited for it. */
		if (got == s->pid || (got < 0 && errno != EINTR))
			s->pid = 0;
		else if (ot_now_ns() >= until)
			return;
		else
			nanosleep(&moment, NULL);
	}
}

/* Request the writable event only while it is needed. */
static int update_waiting(struct ssh_carrier *s)
{
	struct epoll_event event = { .events = EPOLLIN };
	bool waits;
	int fd = s->pipe->ops->fd(s->pipe, &waits);

	if (waits)
		event.events |= EPOLLOUT;
	if (waits != s->waits && !epoll_ctl(s->epoll, EPOLL_CTL_MOD, fd, &event))
		s->waits = waits;
	return s->epoll;
}

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	struct ssh_carrier *s = ssh_of(c);
	struct ot_err *err = s->pipe->ops->send(s->pipe, packet, len);

	update_waiting(s);
	return err;
}

/* --- what comes ------------------------------------------------------------------------------------------ */

/* Text before the first packet is not outsight-serve's, which has sent nothing else. An incomplete header
 * counts as text once nothing follows. */
static bool is_noise(const struct ssh_carrier *s, bool is_all)
{
	const void *data;
	size_t len = fl_pipe_rest(s->pipe, &data);

	if (s->heard || len < BEGINNING)
		return !s->heard && len && is_all;

	struct fl_reader r = fl_reader_of((const uint8_t *)data + 4, 4);

	return !fl_packet_is_magic(fl_get_u32(&r));
}

static struct ot_err *noise(const struct ssh_carrier *s)
{
	char text[QUOTED_MAX + 1] = "";
	const void *rest;
	size_t len = fl_pipe_rest(s->pipe, &rest), n = 0;
	const char *data = rest;

	while (len && (*data == '\n' || *data == '\r'))
		data++, len--;
	for (; n < len && n < QUOTED_MAX && data[n] != '\n' && data[n] != '\r'; n++)
		text[n] = data[n] ? data[n] : '?';
	ot_utf8_tame_string(text);
	return ot_err_new(OT_ERR_BAD_DATA,
			  "output precedes that of outsight-serve: \"%s\"; without a terminal, the shell's "
			  "startup files, such as ~/.bashrc, must print nothing",
			  text);
}

/* The remedy for ssh's end, by its status; "": unknown. */
static const char *advice(const struct ssh_carrier *s)
{
	if (s->heard)
		return "";
	switch (WEXITSTATUS(s->status)) {
	case STATUS_NOT_FOUND:
		return ": outsight-serve is not installed there, or not in the PATH of a shell without a "
		       "terminal";
	case STATUS_NOT_EXECUTABLE:
		return ": outsight-serve can't be executed there";
	default:
		return strstr(s->lines.last, "Permission denied (")
			   ? ": ssh can't ask for a password here: use an agent, or a key without a "
			     "passphrase"
			   : "";
	}
}

/* ssh closed its output, so it is about to end, and its status gives the reason. @err is consumed. */
static struct ot_err *why_closed(struct ssh_carrier *s, struct ot_err *err)
{
	wait_until(s, ot_now_ns() + PATIENCE_NS);
	fl_lines_read(&s->lines);
	if (s->pid || !WIFEXITED(s->status) || (!WEXITSTATUS(s->status) && s->heard))
		return err;
	ot_err_destroy(err);
	return ot_err_new(OT_ERR_OS, "ssh to %s ended with status %d%s", s->host, WEXITSTATUS(s->status),
			  advice(s));
}

static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct ssh_carrier *s = ssh_of(c);
	struct ot_err *err = s->pipe->ops->receive(s->pipe, ret, ret_len);
	const bool closed = err && ot_err_errno(err) == EPIPE;

	fl_lines_read(&s->lines);
	update_waiting(s);
	if (!err && *ret_len)
		s->heard = true;
	else if (is_noise(s, closed)) {
		ot_err_destroy(err);
		return noise(s);
	}
	return closed ? why_closed(s, err) : err;
}

static void op_listen(struct fl_carrier *c, void (*say)(void *arg, const char *line), void *arg)
{
	struct ssh_carrier *s = ssh_of(c);

	s->lines.say = say;
	s->lines.arg = arg;
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	*ret_out = false;
	return update_waiting(ssh_of(c));
}

static bool op_busy(struct fl_carrier *c)
{
	struct ssh_carrier *s = ssh_of(c);

	return s->pipe->ops->busy(s->pipe);
}

/* --- life ------------------------------------------------------------------------------------------------ */

static void op_destroy(struct fl_carrier *c)
{
	struct ssh_carrier *s = ssh_of(c);
	static const int signals[] = { SIGTERM, SIGKILL };

	fl_carrier_destroy(s->pipe);
	fl_lines_close(&s->lines);
	if (s->epoll >= 0)
		close(s->epoll);
	wait_until(s, ot_now_ns() + PATIENCE_NS);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(signals) && s->pid; i++) {
		kill(s->pid, signals[i]);
		wait_until(s, i ? UINT64_MAX : ot_now_ns() + PATIENCE_NS);
	}
	free(s->host);
	free(s);
}

/* The child that becomes ssh. Ctrl-C is for the operator's process, which sends STOP over ssh. ssh keeps
 * ignored signals ignored. */
static OT_NORETURN void become(char *const *argv, int sock, int said, int report)
{
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	ot_signals_unblock();
	/* they may be among those three */
	sock = fcntl(sock, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	said = fcntl(said, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (dup2(sock, STDIN_FILENO) >= 0 && dup2(sock, STDOUT_FILENO) >= 0 && dup2(said, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);

	int err = errno;

	_exit(write(report, &err, sizeof(err)) == sizeof(err) ? 126 : 127);
}

static struct ot_err *start(char *const *argv, int sock, int said, pid_t *ret_pid)
{
	int report[2], failed = 0;

	if (pipe2(report, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");

	pid_t pid = fork();

	if (!pid)
		become(argv, sock, said, report[1]);

	int err = errno;

	close(report[1]);
	/* End of file: exec() has closed it. */
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

/* Shell words, options and line ends are not valid in a host's name. */
static bool is_host(const char *host)
{
	const char *at = strrchr(host, '@');
	const char *name = at ? at + 1 : host;

	for (const char *p = host; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"'`$\\;&<>|(){}*?!#", *p))
			return false;
	return host[0] && host[0] != '-' && name[0] && name[0] != '-';
}

/* Start the command of $OUTSIGHT_SSH, or ssh; *words is split in place. */
static struct ot_err *start_words(char *words, const char *host, int sock, int said, pid_t *ret_pid)
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
	return start(argv, sock, said, ret_pid);
}

/* Wait for both at one descriptor. */
static struct ot_err *watch(struct ssh_carrier *s)
{
	struct epoll_event event = { .events = EPOLLIN };
	bool waits;

	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->lines.fd, &event) < 0 ||
	    epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->pipe->ops->fd(s->pipe, &waits), &event) < 0)
		return ot_err_os(errno, "waiting for ssh");
	return NULL;
}

static struct ot_err *open_ssh(struct ssh_carrier *s, const char *host)
{
	const char *set = getenv("OUTSIGHT_SSH");
	ot_auto_free char *words = strdup(set ? set : FL_SSH_WORDS);
	int socks[2], said[2];

	s->host = strdup(host);
	if (!words || !s->host)
		return ot_err_nomem();
	if (pipe2(said, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	s->lines.fd = said[0];

	struct ot_err *err = NULL;
	if (fcntl(said[0], F_SETFL, O_NONBLOCK) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socks) < 0)
		err = ot_err_os(errno, "socketpair");
	if (err) {
		close(said[1]);
		return err;
	}
	err = start_words(words, host, socks[1], said[1], &s->pid);
	close(said[1]);
	close(socks[1]);
	if (err) {
		close(socks[0]);
		return err;
	}
	OT_TRY(fl_pipe_create(socks[0], socks[0], &s->pipe));
	return watch(s);
}

struct ot_err *fl_ssh_create(const char *host, struct fl_carrier **ret)
{
	static const struct fl_carrier_ops ops = {
		.name = "ssh",
		.is_reliable = true,
		.send = op_send,
		.receive = op_receive,
		.listen = op_listen,
		.busy = op_busy,
		.fd = op_fd,
		.destroy = op_destroy,
	};

	if (!is_host(host))
		return ot_err_new(OT_ERR_SYNTAX, "\"%s\" is not a host's name", host);

	struct ssh_carrier *s = calloc(1, sizeof(*s));

	if (!s)
		return ot_err_nomem();
	s->base.ops = &ops;
	s->lines.fd = s->epoll = -1;

	struct ot_err *err = open_ssh(s, host);

	if (err) {
		op_destroy(&s->base);
		return err;
	}
	*ret = &s->base;
	return NULL;
}
