/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process that undoes a request. It maps the shared pages and waits at a pipe whose other end only the
 * operator's process has: when that closes, however that process ended, it resets our words. It also keeps
 * the claim on the VMM until then. In a process group of its own, so that signals to ours do not reach it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/peek/internal.h"

/* The parent may have threads: after fork() only system calls. */
static _Noreturn void wait_and_undo(const struct vp_peek *peek, int pipe_fd)
{
	sigset_t all;
	char byte;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "outsight-undo");
	if (dup2(pipe_fd, 0) < 0 || dup2(peek->claim_fd, 1) < 0)
		_exit(1);
	close_range(2, ~0u, 0);
	while (read(0, &byte, 1) < 0 && errno == EINTR)
		;
	for (uint32_t i = 0; i < peek->nvcpus; i++)
		vp_peek_disarm(&peek->vcpus[i]);
	_exit(0);
}

struct ot_err *vp_peek_undo_start(struct vp_peek *peek)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	ot_auto_close int read_end = fds[0];
	peek->undo_fd = fds[1];
	peek->undo_pid = fork();
	if (peek->undo_pid < 0)
		return ot_err_os(errno, "fork");
	if (!peek->undo_pid)
		wait_and_undo(peek, read_end);
	return NULL;
}

void vp_peek_undo_end(struct vp_peek *peek)
{
	if (peek->undo_fd >= 0)
		close(ot_move_fd(peek->undo_fd));
	while (peek->undo_pid > 0 && waitpid(peek->undo_pid, NULL, 0) < 0 && errno == EINTR)
		;
	peek->undo_pid = 0;
}
