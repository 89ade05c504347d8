/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes of this host for -c and -p: started, attached to, and watched until they exit. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/thread.h"
#include "cli/process.h"
#include "consumer/messages.h"

static struct ot_err *watch(struct cli_processes *procs, pid_t pid, bool child)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return ot_err_os(errno, "failed to grab pid %d", (int)pid);
	if (!ot_grow(&procs->items, &procs->cap, procs->count + 1, sizeof(*procs->items))) {
		close(fd);
		return ot_err_nomem();
	}
	procs->items[procs->count++] = (struct cli_process){ pid, fd, child, child };
	procs->live++;
	return NULL;
}

struct ot_err *cli_process_number(const char *text, pid_t *ret)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (errno || end == text || *end || pid <= 0 || pid > INT32_MAX)
		return ot_err_new(OT_ERR_SYNTAX, "invalid pid: %s", text);
	*ret = (pid_t)pid;
	return NULL;
}

static struct ot_err *grab(struct cli_processes *procs, const char *text)
{
	pid_t pid;

	OT_TRY(cli_process_number(text, &pid));
	return watch(procs, pid, false);
}

/* Split at white space, no shell: as dtrace does. The words point into @line. */
static char **split(char *line)
{
	char **argv = calloc(strlen(line) / 2 + 2, sizeof(*argv)), *save;
	size_t n = 0;

	if (!argv)
		return NULL;
	for (char *w = strtok_r(line, " \f\n\r\t\v", &save); w; w = strtok_r(NULL, " \f\n\r\t\v", &save))
		argv[n++] = w;
	if (!n)
		argv[n++] = line;
	return argv;
}

/* In the child: it stops by itself once exec() has succeeded, because it is traced. */
static OT_NORETURN void become(const struct cli_invocation *inv, char **argv, int error_fd)
{
	ot_signals_unblock();
	for (size_t i = 0; i < inv->env.count; i++)
		putenv((char *)inv->env.items[i]); /* glibc: a name without "=" is removed */
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	execvp(argv[0], argv);
	int err = errno;
	if (write(error_fd, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(127);
}

static struct ot_err *start(struct cli_processes *procs, const struct cli_invocation *inv,
			    const char *command)
{
	ot_auto_free char *line = strdup(command);
	ot_auto_free char **argv = line ? split(line) : NULL;
	int fds[2], status, failed = 0;
	ssize_t n;
	pid_t pid;

	if (!argv)
		return ot_err_nomem();
	if (pipe2(fds, O_CLOEXEC) < 0)
		return ot_err_os(errno, "pipe");
	fflush(NULL);
	pid = fork();
	if (!pid)
		become(inv, argv, fds[1]);
	close(fds[1]);
	n = pid < 0 ? 0 : read(fds[0], &failed, sizeof(failed)); /* nothing: exec() closed it */
	close(fds[0]);
	if (pid < 0)
		return ot_err_os(errno, "fork");
	waitpid(pid, &status, 0);
	if (n > 0)
		return ot_err_os(failed, "failed to execute %s", argv[0]);
	if (!WIFSTOPPED(status))
		return ot_err_new(OT_ERR_OS, "failed to execute %s", argv[0]);
	ptrace(PTRACE_SETOPTIONS, pid, NULL, (void *)(uintptr_t)PTRACE_O_EXITKILL);
	return watch(procs, pid, true);
}

struct ot_err *cli_processes_start(struct cli_processes *procs, const struct cli_invocation *inv)
{
	*procs = (struct cli_processes){ 0 };
	for (size_t i = 0; i < inv->commands.count; i++)
		OT_TRY(start(procs, inv, inv->commands.items[i]));
	for (size_t i = 0; i < inv->pids.count; i++)
		OT_TRY(grab(procs, inv->pids.items[i]));
	return NULL;
}

void cli_processes_deinit(struct cli_processes *procs)
{
	for (size_t i = 0; i < procs->count; i++) {
		if (procs->items[i].held)
			kill(procs->items[i].pid, SIGKILL);
		if (procs->items[i].fd >= 0)
			close(procs->items[i].fd);
	}
	free(procs->items);
}

void cli_processes_release(struct cli_processes *procs)
{
	for (size_t i = 0; i < procs->count; i++) {
		if (procs->items[i].held)
			ptrace(PTRACE_DETACH, procs->items[i].pid, NULL, NULL);
		procs->items[i].held = false;
	}
}

static void report_end(const struct cli_process *proc, const struct dif_options *opts)
{
	int status = 0;

	if (proc->child && waitpid(proc->pid, &status, WNOHANG) != proc->pid)
		status = 0;
	if (WIFSIGNALED(status))
		con_notice(opts, "pid %d terminated by SIG%s", (int)proc->pid,
			   sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else if (WEXITSTATUS(status))
		con_notice(opts, "pid %d exited with status %d", (int)proc->pid, WEXITSTATUS(status));
	else
		con_notice(opts, "pid %d has exited", (int)proc->pid);
}

void cli_processes_check(struct cli_processes *procs, const struct dif_options *opts)
{
	for (size_t i = 0; i < procs->count; i++) {
		struct cli_process *proc = &procs->items[i];
		struct pollfd pfd = { .fd = proc->fd, .events = POLLIN };
		if (proc->fd < 0 || poll(&pfd, 1, 0) <= 0)
			continue;
		report_end(proc, opts);
		close(proc->fd);
		proc->fd = -1;
		procs->live--;
	}
}
