/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists the guests that an operator may see, in a process of its own. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/units.h"
#include "dif/obj/program.h"
#include "fleet/serve/policy.h"
#include "fleet/serve/serve.h"
#include "vmm-probe/hosts/machines.h"

#define KEPT_NS  (2u * OT_NS_PER_SEC)
#define MOST_NS  (10u * (uint64_t)OT_NS_PER_SEC)
#define LIST_MAX ((size_t)1 << 20) /* bytes */

/* --- in that process ------------------------------------------------------------------------------------ */

int fl_serve_list(void)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };
	struct vp_machines machines;
	struct ot_err *err = vp_machines_list(NULL, &machines);

	ot_buf_init(&out);
	for (size_t i = 0; !err && i < machines.count && out.len < LIST_MAX / 2; i++) {
		const struct vp_machine *m = &machines.items[i];
		const char *name = *m->domain_name ? m->domain_name : m->guest.name;

		if ((m->how == VP_HOW_NOW || m->how == VP_HOW_ATTACH) && m->guest.pid)
			fl_body_put_presence(&out, &(struct fl_presence){ name, m->guest.release });
	}
	if (!err) {
		vp_machines_deinit(&machines);
		err = out.failed ? ot_err_nomem() : ot_write_all(FL_LIST_FD, out.data, out.len);
	}
	if (!err)
		return FL_EXIT_OK;
	fl_serve_log(ot_err_message(err));
	ot_err_destroy(err);
	return FL_EXIT_FAILED;
}

/* --- in the daemon -------------------------------------------------------------------------------------- */

void fl_guests_init(struct fl_guests *g)
{
	*g = (struct fl_guests){ .fd = -1 };
	ot_buf_init(&g->coming);
	ot_buf_init(&g->list);
}

static void close_fd(struct fl_guests *g)
{
	if (g->fd >= 0)
		close(g->fd);
	g->fd = -1;
}

void fl_guests_deinit(struct fl_guests *g)
{
	if (g->pid > 0) {
		kill(g->pid, SIGKILL);
		waitpid(g->pid, NULL, 0);
	}
	close_fd(g);
	ot_buf_deinit(&g->coming);
	ot_buf_deinit(&g->list);
}

static struct ot_err *begin(struct fl_guests *g)
{
	char *argv[] = { (char *)"outsight-serve", (char *)"--list", NULL };
	const pid_t parent = getpid();
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return ot_err_os(errno, "pipe");
	fcntl(pipes[1], F_SETFL, 0); /* that process may wait */
	pid_t pid = fork();

	if (!pid)
		fl_serve_become(argv, pipes[1], FL_LIST_FD, parent);
	const int err = errno;

	close(pipes[1]);
	if (pid < 0) {
		close(pipes[0]);
		return ot_err_os(err, "fork");
	}
	g->pid = pid;
	g->fd = pipes[0];
	g->end_ns = ot_now_ns() + MOST_NS;
	ot_buf_clear(&g->coming);
	return NULL;
}

static bool is_meant(const char *pattern, const char *name)
{
	return !*pattern || !strcmp(pattern, "all") || dif_glob_match(pattern, name);
}

/* As many as fit into an answer. */
static void put(const struct fl_guests *g, const struct fl_conf_operator *operator, const char * pattern,
		struct ot_buf *out)
{
	struct fl_reader r = fl_reader_of(g->list.data, g->list.len);
	struct fl_presence presence;
	struct ot_arena arena;

	ot_arena_init(&arena);
	while (out->len < FL_ANSWER_MAX / 2 && fl_body_next_presence(&r, &arena, &presence))
		if (is_meant(pattern, presence.guest) && fl_policy_guest(operator, presence.guest))
			fl_body_put_presence(out, &presence);
	ot_arena_deinit(&arena);
}

bool fl_guests_tell(struct fl_guests *g, const struct fl_conf_operator *operator, const char * pattern,
		    struct ot_buf *out)
{
	if (g->listed_ns && ot_now_ns() - g->listed_ns < KEPT_NS) {
		put(g, operator, pattern, out);
		return true;
	}
	struct ot_err *err = g->pid > 0 ? NULL : begin(g);

	if (err)
		fl_serve_log(ot_err_message(err));
	ot_err_destroy(err);
	return false;
}

/* A process that writes too much is killed, like one that takes too long. */
static void take(struct fl_guests *g)
{
	char data[16384];

	while (g->fd >= 0) {
		const ssize_t n = read(g->fd, data, sizeof(data));

		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (n > 0)
			ot_buf_append(&g->coming, data, (size_t)n);
		if (n > 0 && !g->coming.failed && g->coming.len <= LIST_MAX)
			continue;
		if (n > 0)
			kill(g->pid, SIGKILL);
		close_fd(g);
	}
}

static void finish(struct fl_guests *g, int status)
{
	char line[128];

	g->pid = 0;
	if (!status) {
		ot_buf_clear(&g->list);
		ot_buf_append(&g->list, g->coming.data, g->coming.len);
		g->listed_ns = g->list.failed ? 0 : ot_now_ns();
		return;
	}
	snprintf(line, sizeof(line), "fleet: guests could not be listed: %s %d",
		 WIFSIGNALED(status) ? "signal" : "status",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fl_serve_log(line);
}

int fl_guests_step(struct fl_guests *g, bool *ret_ended)
{
	int status;

	*ret_ended = false;
	if (g->pid <= 0)
		return -1;
	take(g);
	if (ot_now_ns() >= g->end_ns)
		kill(g->pid, SIGKILL);
	if (waitpid(g->pid, &status, WNOHANG) != g->pid)
		return ot_ms_until(g->end_ns) + 1;
	take(g); /* its last output */
	close_fd(g);
	finish(g, status);
	*ret_ended = true;
	return -1;
}
