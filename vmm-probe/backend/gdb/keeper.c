/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keeper: a process that detaches from a gdb stub if outsight was killed. */
#include "vmm-probe/backend/gdb/keeper.h"
#include "vmm-probe/backend/gdb/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET_MS  300
#define ANSWER_MS 30000
#define REPEAT_MS 1000
#define REPEATS   30
#define ROUNDS    64

/* Discard input until none has arrived for @quiet_ms. False: the connection is closed. */
static bool drain(int sock, int quiet_ms)
{
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	char waste[4096];

	for (int i = 0; i < ROUNDS && poll(&fd, 1, quiet_ms) > 0; i++)
		if (recv(sock, waste, sizeof(waste), MSG_DONTWAIT) <= 0)
			return false;
	return true;
}

enum answer {
	NONE,
	ANSWERED,
	CLOSED,
};

/* Read until the fence is answered, or nothing has arrived for REPEAT_MS. */
static enum answer await_answer(int sock)
{
	static const char answer[] = "PacketSize="; /* of qSupported's, at any place in it */
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	size_t matched = 0;
	char in[4096];

	for (int i = 0; i < ROUNDS && poll(&fd, 1, REPEAT_MS) > 0; i++) {
		ssize_t n = recv(sock, in, sizeof(in), MSG_DONTWAIT);
		if (n <= 0)
			return CLOSED;
		for (ssize_t k = 0; k < n; k++) {
			matched = in[k] == answer[matched] ? matched + 1 : in[k] == answer[0];
			if (!answer[matched])
				return ANSWERED;
		}
	}
	return NONE;
}

/*
 * Stop the target, and wait until the stub has registered that. If a vCPU hits a breakpoint while it is being
 * stopped, QEMU performs a second stop in the next iteration of its main loop: a detach read in the same
 * iteration as the interrupt resumes the guest before that stop, and after the stop no client is left to
 * resume it. So the detach is sent once the fence has been answered, however long a busy host takes. The
 * fence is repeated, because a packet that the parent left unfinished swallows it. Its request is one that
 * the parent sent only before its first breakpoint, so that no answer to the parent is taken for ours, and
 * one that QEMU answers when it is already detached: qC would crash it then (gdbstub/gdbstub.c,
 * gdb_get_cpu_pid() of no CPU). False: the connection is closed.
 */
static bool stop(int sock)
{
	static const char fence[] = VP_GDB_HALT "$qSupported#37";
	enum answer got = NONE;

	for (int i = 0; i < REPEATS && got == NONE; i++) {
		if (send(sock, fence, sizeof(fence) - 1, MSG_NOSIGNAL) < 0)
			return false;
		got = await_answer(sock);
	}
	return got == ANSWERED || (got != CLOSED && drain(sock, QUIET_MS));
}

/*
 * The target may be running or stopped, and the stub in the middle of an answer. The parent may have been
 * killed right after its own detach: QEMU crashes on a second one, so it attaches again before. It accepts
 * that when it is attached, too; another stub has no such request.
 */
static void detach(int sock)
{
	static const char leave[] = "+$vAttach;1#37+$Qqemu.PhyMemMode:0#76+$D#44";

	if (!stop(sock) || send(sock, leave, sizeof(leave) - 1, MSG_NOSIGNAL) < 0)
		return;
	shutdown(sock, SHUT_WR);
	drain(sock, ANSWER_MS);
}

/* In the child: 0 the pipe, 1 the stub. It keeps nothing else of the parent's open: others detect the
 * parent's end by its closed descriptors. */
static void keep(void)
{
	char byte;
	ssize_t n;

	do
		n = read(0, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 0)
		detach(1);
	_exit(0);
}

static void become_keeper(int pipe_fd, int stub_fd)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	/* each may occupy the other's target number */
	int a = fcntl(pipe_fd, F_DUPFD, 10), b = fcntl(stub_fd, F_DUPFD, 10);
	if (setsid() < 0 || a < 0 || b < 0 || dup2(a, 0) < 0 || dup2(b, 1) < 0 || close_range(2, ~0u, 0) < 0)
		_exit(1);
	prctl(PR_SET_NAME, "outsight-keeper");
	keep();
}

struct ot_err *vp_gdb_keeper_start(struct vp_gdb_keeper *keeper, int stub_fd)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	pid_t pid = fork();
	if (pid == 0)
		become_keeper(fds[0], stub_fd);
	int err = errno;
	close(fds[0]);
	if (pid < 0) {
		close(fds[1]);
		return ot_err_os(err, "fork");
	}
	*keeper = (struct vp_gdb_keeper){ .pid = pid, .pipe_fd = fds[1] };
	return NULL;
}

void vp_gdb_keeper_stop(struct vp_gdb_keeper *keeper)
{
	const char done = 'q';

	if (!keeper->pid)
		return;
	while (write(keeper->pipe_fd, &done, 1) < 0 && errno == EINTR)
		;
	close(keeper->pipe_fd);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		;
	*keeper = (struct vp_gdb_keeper){ 0 };
}
