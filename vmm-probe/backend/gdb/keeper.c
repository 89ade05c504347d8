/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/backend/gdb/keeper.h"

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
#define ANSWER_MS 3000
#define ROUNDS    64

/* Throw away what comes until nothing has come for so long. False: the connection is closed. */
static bool drain(int sock, int quiet_ms)
{
	struct pollfd fd = { .fd = sock, .events = POLLIN };
	char waste[4096];

	for (int i = 0; i < ROUNDS && poll(&fd, 1, quiet_ms) > 0; i++)
		if (recv(sock, waste, sizeof(waste), MSG_DONTWAIT) <= 0)
			return false;
	return true;
}

/* The target may be running or stopped, and the stub in the middle of an answer. A running one is stopped
 * by the interrupt, and does not mind the acknowledgement; whatever was being said is over then. */
static void detach(int sock)
{
	static const char stop[] = "\003+", leave[] = "+$Qqemu.PhyMemMode:0#76+$D#44";

	if (send(sock, stop, sizeof(stop) - 1, MSG_NOSIGNAL) < 0 || !drain(sock, QUIET_MS))
		return;
	if (send(sock, leave, sizeof(leave) - 1, MSG_NOSIGNAL) < 0)
		return;
	shutdown(sock, SHUT_WR);
	drain(sock, ANSWER_MS);
}

/* In the child: 0 the pipe, 1 the stub. Nothing else of the parent's is held open, as that others see its
 * descriptors closed is how they know that it ended. */
static void keep(void)
{
	char told;
	ssize_t n;

	do
		n = read(0, &told, 1);
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
	/* the two may stand where the other is to go */
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
