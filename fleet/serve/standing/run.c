/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One thread for everything, which never waits for a program, a guest or a reader. */
#include "fleet/serve/standing/run.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/signals.h"
#include "fleet/serve/standing/http.h"

/* Minimum time between two readings of programs' files. Faster readers get the same page again. */
#define PAGE_NS 250000000u

struct running {
	char exe[PATH_MAX], folder[PATH_MAX];
	void (*log)(const char *line);
	struct fl_standing *standing;
	struct fl_http *http;
	struct ot_buf page;
	uint64_t page_ns; /* 0: there is none yet */
	int signals;
	bool ending;
};

static const struct fl_counts no_sessions;

static void log_line(void *arg, const char *line)
{
	const struct running *r = arg;

	r->log(line);
}

static struct ot_err *make_page(void *arg, struct ot_buf *out)
{
	struct running *r = arg;
	uint64_t now = ot_now_ns();

	if (!r->page_ns || now >= r->page_ns + PAGE_NS) {
		r->page_ns = 0;
		ot_buf_clear(&r->page);
		OT_TRY(fl_standing_metrics(r->standing, now, &r->page));
		r->page_ns = now;
	}
	ot_buf_append(out, r->page.data, r->page.len);
	return out->failed ? ot_err_nomem() : NULL;
}

/* outsight is installed beside this program. */
static struct ot_err *find_exe(struct running *r)
{
	char own[PATH_MAX - 16];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	if (n < 0)
		return ot_err_os(errno, "/proc/self/exe");
	own[n] = '\0';
	char *slash = strrchr(own, '/');

	snprintf(r->exe, sizeof(r->exe), "%.*s/outsight", slash ? (int)(slash - own) : 0, own);
	return NULL;
}

/* Programs' files are for this process only: a user who could change the folder could forge metrics, or have
 * another file overwritten through a link. */
static struct ot_err *make_folder(struct running *r, const struct fl_conf *conf)
{
	const char *at = getenv("RUNTIME_DIRECTORY"); /* of systemd.exec(5) */
	struct stat st;

	snprintf(r->folder, sizeof(r->folder), "%s/standing", at && *at == '/' ? at : conf->state);
	if (mkdir(r->folder, 0700) && errno != EEXIST)
		return ot_err_os(errno, "%s", r->folder);
	if (lstat(r->folder, &st))
		return ot_err_os(errno, "%s", r->folder);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || (st.st_mode & 022))
		return ot_err_new(OT_ERR_PERMISSION, "%s is no folder of this user's that only it can write",
				  r->folder);
	return NULL;
}

static struct ot_err *hold_signals(struct running *r)
{
	static const int list[] = { SIGTERM, SIGINT, SIGHUP, SIGCHLD };

	signal(SIGPIPE, SIG_IGN);
	return ot_signals_open(list, OT_ARRAY_SIZE(list), &r->signals);
}

static void take_signals(struct running *r)
{
	struct signalfd_siginfo info;

	while (read(r->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			fl_standing_load(r->standing, ot_now_ns());
		else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT)
			r->ending = true;
	}
}

static void loop(struct running *r)
{
	while (!r->ending) {
		struct pollfd p[FL_PROGRAMS_MAX + 2] = { { r->signals, POLLIN, 0 },
							 { fl_http_fd(r->http), POLLIN, 0 } };
		uint64_t due = fl_standing_step(r->standing, ot_now_ns());
		nfds_t n = 2 + fl_standing_fds(r->standing, p + 2);
		int ms = due == UINT64_MAX ? -1 : ot_ms_until(due), http_ms = fl_http_timeout_ms(r->http);

		if (http_ms >= 0 && (ms < 0 || http_ms < ms))
			ms = http_ms;
		poll(p, n, ms);
		take_signals(r);
		fl_http_run(r->http);
	}
}

static void say_address(const struct running *r)
{
	char line[64];

	snprintf(line, sizeof(line), "metrics: served at port %u", fl_http_port(r->http));
	r->log(line);
}

static struct ot_err *open_all(struct running *r, const struct fl_conf *conf, const struct fl_counts *counts)
{
	OT_TRY(find_exe(r));
	OT_TRY(make_folder(r, conf));
	OT_TRY(hold_signals(r));
	const struct fl_http_config http = { .address = &conf->metrics, .page = make_page, .arg = r };

	OT_TRY(fl_http_create(&http, &r->http));
	say_address(r);
	const struct fl_standing_config standing = { .folder = conf->standing,
						     .run = r->folder,
						     .exe = r->exe,
						     .counts = counts ? counts : &no_sessions,
						     .log = log_line,
						     .arg = r };

	return fl_standing_create(&standing, ot_now_ns(), &r->standing);
}

struct ot_err *fl_standing_run(const struct fl_conf *conf, const struct fl_counts *counts,
			       void (*log)(const char *line))
{
	struct running r = { .log = log, .signals = -1 };

	ot_buf_init(&r.page);
	struct ot_err *err = open_all(&r, conf, counts);

	if (!err)
		loop(&r);
	fl_http_destroy(r.http);
	fl_standing_destroy(r.standing);
	if (r.signals >= 0)
		close(r.signals);
	ot_buf_deinit(&r.page);
	return err;
}
