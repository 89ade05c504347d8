/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The process of a standing program: outsight, with the limits of its NAME.conf. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/log.h"
#include "base/units.h"
#include "fleet/serve/standing/internal.h"

#define WINDOW_NS (60u * OT_NS_PER_SEC)
#define LINES_MAX 20u /* of one program, in that time */
#define ARGS_MAX  (2 * FL_GUESTS_MAX + 16)

struct command {
	const char *argv[ARGS_MAX];
	unsigned argc;
	char maxcost[32], series[32];
	struct ot_buf script, metrics;
};

void fl_program_metrics_path(const struct fl_standing *s, const struct fl_program *p, struct ot_buf *ret)
{
	ot_buf_printf(ret, "%s/%s.prom", s->config.run, p->name);
}

static void add(struct command *c, const char *option, const char *value)
{
	c->argv[c->argc++] = option;
	if (value)
		c->argv[c->argc++] = value;
}

static void make_command(struct command *c, const struct fl_standing *s, const struct fl_program *p)
{
	ot_buf_init(&c->script);
	ot_buf_init(&c->metrics);
	ot_buf_printf(&c->script, "%s/%s.d", s->config.folder, p->name);
	fl_program_metrics_path(s, p, &c->metrics);
	snprintf(c->maxcost, sizeof(c->maxcost), "maxcost=%u", p->limits.maxcost);
	snprintf(c->series, sizeof(c->series), "promseries=%u", p->limits.series);
	c->argc = 0;
	add(c, s->config.exe, "-q");
	for (size_t i = 0; i < p->limits.guests.count; i++)
		add(c, "-g", p->limits.guests.items[i]);
	add(c, "-o", ot_buf_str(&c->metrics));
	add(c, "-x", "oformat=prom");
	add(c, "-x", c->maxcost);
	add(c, "-x", c->series);
	add(c, "-s", ot_buf_str(&c->script));
	c->argv[c->argc] = NULL;
}

/* In the child, between fork() and exec(). It ends with the process that started it. */
static void become(const struct command *c, int said, pid_t parent)
{
	sigset_t none;
	int null = open("/dev/null", O_RDWR);

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(said, STDERR_FILENO) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
		_exit(127);
	close_range(3, ~0u, 0); /* a library's descriptors may lack O_CLOEXEC */
	execv(c->argv[0], (char *const *)(uintptr_t)c->argv);
	fprintf(stderr, "%s: %s\n", c->argv[0], strerror(errno));
	_exit(127);
}

/* Remove its file and a temporary one of a killed process: values of a program that does not run are
 * obsolete. */
static void remove_files(const struct fl_standing *s, const struct fl_program *p)
{
	ot_auto_dir DIR *dir = opendir(s->config.run);
	size_t n = strlen(p->name);

	for (const struct dirent *e; dir && (e = readdir(dir));)
		if (!strncmp(e->d_name, p->name, n) && !strncmp(e->d_name + n, ".prom", 5))
			unlinkat(dirfd(dir), e->d_name, 0);
}

struct ot_err *fl_program_spawn(const struct fl_standing *s, struct fl_program *p)
{
	pid_t parent = getpid();
	struct command c;
	int pipes[2];

	remove_files(s, p);
	make_command(&c, s, p);
	struct ot_err *err = c.script.failed || c.metrics.failed ? ot_err_nomem() : NULL;

	if (!err && pipe2(pipes, O_CLOEXEC))
		err = ot_err_os(errno, "pipe");
	if (!err) {
		p->pid = fork();
		if (!p->pid)
			become(&c, pipes[1], parent);
		close(pipes[1]);
		fcntl(pipes[0], F_SETFL, O_NONBLOCK);
		p->said_fd = pipes[0];
		if (p->pid < 0) {
			err = ot_err_os(errno, "fork");
			close(pipes[0]);
			p->said_fd = -1;
		}
	}
	ot_buf_deinit(&c.script);
	ot_buf_deinit(&c.metrics);
	return err;
}

/* --- what it says ---------------------------------------------------------------------------------------- */

/* A repeated failure prints the same line each time. */
static void tell(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };

	p->line[p->line_len] = '\0';
	p->line_len = 0;
	if (!p->line[0] || !strcmp(p->line, p->last))
		return;
	snprintf(p->last, sizeof(p->last), "%s", p->line);
	if (now_ns >= p->window + WINDOW_NS) {
		if (p->untold)
			fl_standing_say(s, p, "%u more lines", p->untold);
		p->window = now_ns;
		p->lines = p->untold = 0;
	}
	if (p->lines++ >= LINES_MAX) {
		p->untold++;
		return;
	}
	ot_buf_init(&text);
	ot_log_put_text(&text, p->line, FL_LINE_MAX);
	fl_standing_say(s, p, "%s", ot_buf_str(&text));
}

/* The beginning of a line that is too long is kept. */
static void take(const struct fl_standing *s, struct fl_program *p, const char *data, size_t n,
		 uint64_t now_ns)
{
	for (size_t i = 0; i < n; i++)
		if (data[i] == '\n')
			tell(s, p, now_ns);
		else if (p->line_len < sizeof(p->line) - 1)
			p->line[p->line_len++] = data[i];
}

void fl_program_listen(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns)
{
	char data[4096];

	if (p->said_fd < 0)
		return;
	/* the rest of its output waits for the next read */
	for (unsigned i = 0; i < 16; i++) {
		ssize_t n = read(p->said_fd, data, sizeof(data));

		if (n < 0)
			return;
		if (!n) { /* closed, because a descriptor at its end is always ready */
			close(p->said_fd);
			p->said_fd = -1;
			return;
		}
		take(s, p, data, (size_t)n, now_ns);
	}
}

/* --- its end --------------------------------------------------------------------------------------------- */

static uint64_t microseconds(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000u + (uint64_t)t->tv_usec;
}

bool fl_program_reap(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns, int *ret_status)
{
	struct rusage usage;

	if (p->pid <= 0 || wait4(p->pid, ret_status, WNOHANG, &usage) != p->pid)
		return false;
	p->pid = 0;
	p->cpu_us += microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime);
	fl_program_listen(s, p, now_ns);
	if (p->line_len)
		tell(s, p, now_ns);
	if (p->said_fd >= 0)
		close(p->said_fd);
	p->said_fd = -1;
	remove_files(s, p);
	return true;
}

uint64_t fl_program_cpu_us(const struct fl_program *p)
{
	unsigned long long user = 0, system = 0;
	char path[64], stat[512] = "";
	long hz = sysconf(_SC_CLK_TCK);

	if (p->pid <= 0)
		return p->cpu_us;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	ot_auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, stat, sizeof(stat) - 1);
	const char *at = n > 0 ? strrchr(stat, ')') : NULL; /* a command's name may have blanks */

	if (!at || hz <= 0 ||
	    sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
		return p->cpu_us;
	return p->cpu_us + (user + system) * 1000000u / (uint64_t)hz;
}
