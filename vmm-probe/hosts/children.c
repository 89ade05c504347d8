/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Queries run in child processes, several at once, each with a deadline. */
#include "vmm-probe/hosts/children.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

struct child {
	pid_t pid; /* 0: there is none */
	int fd;
	uint64_t until_ns;
};

static _Noreturn void run(int fd, size_t i, void (*ask)(void *, size_t, char[VP_CHILDREN_ANSWER]), void *arg)
{
	char answer[VP_CHILDREN_ANSWER] = "";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	ask(arg, i, answer);
	_exit(write(fd, answer, strnlen(answer, sizeof(answer))) < 0);
}

static void start(struct child *child, size_t i, uint32_t ms,
		  void (*ask)(void *, size_t, char[VP_CHILDREN_ANSWER]), void *arg)
{
	int fds[2];

	*child = (struct child){ .until_ns = ot_now_ns() + ms * 1000000ull };
	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	child->pid = fork();
	if (!child->pid)
		run(fds[1], i, ask, arg);
	close(fds[1]);
	if (child->pid < 0) {
		close(fds[0]);
		child->pid = 0;
	}
	child->fd = fds[0];
}

/* The child's answer: one write, which a pipe does not split. */
static void finish(struct child *child, char answer[VP_CHILDREN_ANSWER])
{
	struct pollfd p = { .fd = child->fd, .events = POLLIN };
	ssize_t n = 0;
	int ready;

	answer[0] = '\0';
	if (!child->pid)
		return;
	do
		ready = poll(&p, 1, ot_ms_until(child->until_ns));
	while (ready < 0 && errno == EINTR);
	if (ready > 0)
		n = read(child->fd, answer, VP_CHILDREN_ANSWER - 1);
	answer[n > 0 ? n : 0] = '\0';
	close(child->fd);
	kill(child->pid, SIGKILL);
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

void vp_children_ask(size_t n, size_t at_once, uint32_t ms,
		     void (*ask)(void *arg, size_t i, char ret[VP_CHILDREN_ANSWER]), void *arg,
		     char (*answers)[VP_CHILDREN_ANSWER])
{
	struct child *children = calloc(n + 1, sizeof(*children));

	for (size_t i = 0; i < n; i++)
		answers[i][0] = '\0';
	for (size_t i = 0; children && i < n && i < at_once; i++)
		start(&children[i], i, ms, ask, arg);
	for (size_t i = 0; children && i < n; i++) {
		finish(&children[i], answers[i]);
		if (n - i > at_once)
			start(&children[i + at_once], i + at_once, ms, ask, arg);
	}
	free(children);
}
