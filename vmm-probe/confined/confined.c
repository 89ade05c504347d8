/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parent's side of a confined job: nothing that the child sends is trusted. */
#include "vmm-probe/confined/confined.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/confined/receive.h"

#define CODE(name) (1u << OT_ERR_##name)

/* A message of the child's may contain anything. */
static struct ot_err *own_error(const struct vp_confined_job *job, struct vp_confined_incoming *i)
{
	uint32_t kept =
	    job->codes | CODE(BAD_DATA) | CODE(FAULT) | CODE(LIMIT) | CODE(NOT_FOUND) | CODE(UNSUPPORTED);
	bool known = i->frame.code < 32 && (kept >> i->frame.code & 1);
	enum ot_err_code code = known ? (enum ot_err_code)i->frame.code : OT_ERR_BAD_DATA;

	for (size_t at = 0; at < i->body.len; at++)
		if (i->body.data[at] < ' ' || i->body.data[at] > '~')
			i->body.data[at] = '?';
	if (job->names_itself)
		return ot_err_new(code, "%s", ot_buf_str(&i->body));
	return ot_err_new(code, "%s: %s", job->what, ot_buf_str(&i->body));
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

static struct ot_err *judge(const struct vp_confined_job *job, struct vp_confined_incoming *i, int status)
{
	if (i->is_late)
		return ot_err_new(OT_ERR_LIMIT, "%s: reading it took more than %u s", job->what,
				  job->limits.wall_s);
	if (i->is_too_large)
		return ot_err_new(OT_ERR_LIMIT, "%s: what its reader found takes more than %u MiB", job->what,
				  job->limits.result_mib);
	if (i->is_broken)
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader's result is broken", job->what);
	if (WIFSIGNALED(status))
		return killed(job, WTERMSIG(status));
	if (WEXITSTATUS(status) == VP_CONFINED_NO_MEMORY)
		return ot_err_new(OT_ERR_LIMIT, "%s: reading it takes more than %u MiB of memory", job->what,
				  job->limits.memory_mib);
	if (WEXITSTATUS(status) || i->have < sizeof(i->frame))
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader ended without a result", job->what);
	if (!vp_confined_is_whole(i))
		return ot_err_new(OT_ERR_BAD_DATA, "%s: its reader's result is cut off", job->what);
	return i->frame.kind == VP_CONFINED_ERROR ? own_error(job, i) : NULL;
}

/* Both sides' ends. */
struct channels {
	int in, answers; /* answers -1: none are given */
	struct vp_confined_ends child;
};

static void close_all(struct channels *c)
{
	const int fds[] = { c->in, c->answers, c->child.out, c->child.answers };

	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static void close_childs(struct channels *c)
{
	close(c->child.out);
	if (c->child.answers >= 0)
		close(c->child.answers);
	c->child.out = c->child.answers = -1;
}

static struct ot_err *open_channels(const struct vp_confined_job *job, struct channels *c)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	c->in = fds[0];
	c->child.out = fds[1];
	if (!job->answer)
		return NULL;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return ot_err_os(errno, "socketpair");
	c->answers = fds[0];
	c->child.answers = fds[1];
	return NULL;
}

/* Returns how the child ended, for judge(). */
static struct ot_err *run_child(const struct vp_confined_job *job, struct channels *c,
				struct vp_confined_incoming *incoming, int *ret_status)
{
	pid_t parent = getpid(), pid = fork();

	if (pid == 0)
		vp_confined_child(job, parent, &c->child);
	if (pid < 0)
		return ot_err_os(errno, "fork");
	close_childs(c);
	struct ot_err *err = vp_confined_receive(job, c->in, c->answers, incoming);
	/* A child that closed the pipe by ending keeps its status; one that closed it and continues is
	 * killed. */
	kill(pid, SIGKILL);
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		;
	return err;
}

static struct ot_err *run(const struct vp_confined_job *job, const struct vp_confined_result *shared,
			  size_t *ret_len)
{
	ot_auto(close_all) struct channels c = { .in = -1, .answers = -1 };
	struct vp_confined_incoming incoming = { 0 };
	int status = 0;

	c.child = (struct vp_confined_ends){ (void *)(uintptr_t)shared->data, shared->mapped, -1, -1 };
	struct ot_err *err = open_channels(job, &c);
	if (!err)
		err = run_child(job, &c, &incoming, &status);
	if (!err)
		err = judge(job, &incoming, status);
	if (!err)
		*ret_len = incoming.frame.len;
	ot_buf_deinit(&incoming.body);
	return err;
}

struct ot_err *vp_confined_run(const struct vp_confined_job *job, struct vp_confined_result *ret)
{
	struct vp_confined_result result = { .mapped = (size_t)job->limits.result_mib << 20 };

	if (job->nfds > VP_CONFINED_FDS)
		return ot_err_new(OT_ERR_INTERNAL, "a confined job with %u descriptors", job->nfds);
	/* Shared, so that a result of many megabytes is neither sent nor waited for; its unused part takes no
	 * memory. */
	void *mem = mmap(NULL, result.mapped, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (mem == MAP_FAILED)
		return ot_err_nomem();
	result.data = mem;
	struct ot_err *err = run(job, &result, &result.len);
	if (err) {
		vp_confined_result_deinit(&result);
		return err;
	}
	*ret = result;
	return NULL;
}

void vp_confined_result_deinit(struct vp_confined_result *result)
{
	if (result->mapped)
		munmap((void *)(uintptr_t)result->data, result->mapped);
	*result = (struct vp_confined_result){ 0 };
}
