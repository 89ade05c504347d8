/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parent's side of a confined job: the child is believed nothing but its end. */
#include "vmm-probe/confined/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "vmm-probe/confined/child.h"

#define CHUNK   65536u
#define WAIT_MS 200

/* What came of the child. */
struct outcome {
	bool is_late, is_too_large;
	int status; /* as waitpid() has it */
};

/* Read until the pipe's end, the limit of bytes, or the deadline. */
static struct ot_err *receive(const struct vp_confined_job *job, int in, struct ot_buf *all,
			      struct outcome *o)
{
	const struct vp_confined_limits *limits = &job->limits;
	uint64_t deadline = ot_now_ns() + (uint64_t)limits->wall_s * 1000000000u;
	size_t most = ((size_t)limits->result_mib << 20) + sizeof(struct vp_confined_frame);
	char chunk[CHUNK];

	for (;;) {
		struct pollfd p = { .fd = in, .events = POLLIN };
		int left = ot_ms_until(deadline);

		if (poll(&p, 1, left < WAIT_MS ? left : WAIT_MS) < 0 && errno != EINTR)
			return ot_err_os(errno, "poll");
		if (job->waiting)
			job->waiting(job->waiting_arg);
		if (ot_now_ns() >= deadline) {
			o->is_late = true;
			return NULL;
		}
		if (!p.revents)
			continue;
		ssize_t n = read(in, chunk, sizeof(chunk));
		if (n < 0 && errno != EINTR)
			return ot_err_os(errno, "read");
		if (n == 0)
			return NULL;
		if (n > 0)
			ot_buf_append(all, chunk, (size_t)n);
		if (all->failed)
			return ot_err_nomem();
		if (all->len > most) {
			o->is_too_large = true;
			return NULL;
		}
	}
}

/* A message of the child's may hold anything. */
static struct ot_err *own_error(const struct vp_confined_job *job, const struct vp_confined_frame *frame,
				const char *bytes)
{
	char text[VP_CONFINED_ERROR_TEXT + 1];
	size_t len = frame->len < VP_CONFINED_ERROR_TEXT ? frame->len : VP_CONFINED_ERROR_TEXT;
	enum ot_err_code code = OT_ERR_BAD_DATA;

	memcpy(text, bytes, len);
	text[len] = '\0';
	for (char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	if (frame->code == OT_ERR_UNSUPPORTED || frame->code == OT_ERR_NOT_FOUND ||
	    frame->code == OT_ERR_LIMIT)
		code = frame->code;
	return ot_err_new(code, "%s: %s", job->what, text);
}

static struct ot_err *killed(const struct vp_confined_job *job, int sig)
{
	switch (sig) {
	case SIGSYS:
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader made a system call that it may not make",
				  job->what);
	case SIGXCPU:
		return ot_err_new(OT_ERR_LIMIT, "%s: reading it took more than %u s of processor time",
				  job->what, job->limits.cpu_s);
	case SIGKILL:
		return ot_err_new(OT_ERR_LIMIT, "%s: its reader was killed, perhaps for want of memory",
				  job->what);
	case SIGINT:
	case SIGTERM:
	case SIGHUP:
		return ot_err_new(OT_ERR_BAD_DATA, "%s: reading it was interrupted", job->what);
	default:
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader crashed (%s)", job->what, strsignal(sig));
	}
}

static struct ot_err *judge(const struct vp_confined_job *job, const struct outcome *o, struct ot_buf *all)
{
	struct vp_confined_frame frame;

	if (o->is_late)
		return ot_err_new(OT_ERR_LIMIT, "%s: reading it took more than %u s", job->what,
				  job->limits.wall_s);
	if (o->is_too_large)
		return ot_err_new(OT_ERR_LIMIT, "%s: what its reader found takes more than %u MiB", job->what,
				  job->limits.result_mib);
	if (WIFSIGNALED(o->status))
		return killed(job, WTERMSIG(o->status));
	if (WEXITSTATUS(o->status) == VP_CONFINED_NO_MEMORY)
		return ot_err_new(OT_ERR_LIMIT, "%s: reading it takes more than %u MiB of memory", job->what,
				  job->limits.memory_mib);
	if (WEXITSTATUS(o->status) || all->len < sizeof(frame))
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader ended without a result", job->what);
	memcpy(&frame, all->data, sizeof(frame));
	if (frame.len != all->len - sizeof(frame))
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader's result is cut off", job->what);
	if (frame.is_error)
		return own_error(job, &frame, all->data + sizeof(frame));
	memmove(all->data, all->data + sizeof(frame), frame.len + 1);
	all->len = frame.len;
	return NULL;
}

struct ot_err *vp_confined_run(const struct vp_confined_job *job, struct ot_buf *ret)
{
	ot_auto(ot_buf_deinit) struct ot_buf all;
	ot_auto_close int in = -1;
	struct outcome o = { 0 };
	pid_t parent = getpid();
	int pipe_fds[2];

	ot_buf_init(&all);
	if (job->nfds > VP_CONFINED_FDS)
		return ot_err_new(OT_ERR_INTERNAL, "a confined job with %u descriptors", job->nfds);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	in = pipe_fds[0];
	pid_t pid = fork();
	if (pid == 0)
		vp_confined_child(job, parent, pipe_fds[1]);
	int fork_errno = errno;
	close(pipe_fds[1]);
	if (pid < 0)
		return ot_err_os(fork_errno, "fork");
	struct ot_err *err = receive(job, in, &all, &o);
	/* One that has closed the pipe by ending keeps its status; one that did so and goes on shall not. */
	kill(pid, SIGKILL);
	while (waitpid(pid, &o.status, 0) < 0 && errno == EINTR)
		;
	if (!err)
		err = judge(job, &o, &all);
	OT_TRY(err);
	ot_buf_deinit(ret);
	*ret = all;
	ot_buf_init(&all);
	return NULL;
}
