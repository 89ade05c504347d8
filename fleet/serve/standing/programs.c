/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts and ends standing programs. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "fleet/serve/standing/internal.h"

#define PAUSE_MIN_S 1u
#define PAUSE_MAX_S 60u /* no longer: guests that a program waits for may have come */
#define KILL_NS     (10u * OT_NS_PER_SEC)

void fl_standing_say(const struct fl_standing *s, const struct fl_program *p, const char *fmt, ...)
{
	ot_auto(ot_buf_deinit) struct ot_buf line = { 0 };
	char text[2 * FL_LINE_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ot_buf_init(&line);
	ot_buf_printf(&line, "standing: %s%s%s%s", p ? "program=" : "", p ? p->name : "", p ? ": " : "",
		      text);
	if (!line.failed)
		s->config.log(s->config.arg, line.data);
}

void fl_program_begin(struct fl_program *p, uint64_t now_ns)
{
	if (p->state == FL_PROGRAM_RUNNING || p->state == FL_PROGRAM_ENDING) {
		fl_program_end(p, FL_PROGRAM_WAITING, now_ns);
		return;
	}
	p->state = FL_PROGRAM_WAITING;
	p->due = now_ns;
	p->pause_s = PAUSE_MIN_S;
}

void fl_program_end(struct fl_program *p, enum fl_program_state next, uint64_t now_ns)
{
	p->next = next;
	if (p->state == FL_PROGRAM_ENDING)
		return;
	if (p->state != FL_PROGRAM_RUNNING) {
		p->state = next;
		return;
	}
	kill(p->pid, SIGTERM);
	p->state = FL_PROGRAM_ENDING;
	p->due = now_ns + KILL_NS;
}

static void start(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns)
{
	struct ot_err *err = fl_program_spawn(s, p);

	p->began = now_ns;
	if (!err) {
		p->starts++;
		p->state = FL_PROGRAM_RUNNING;
		return;
	}
	fl_standing_say(s, p, "can't be started: %s", ot_err_message(err));
	ot_err_destroy(err);
	p->failing = true;
	p->failures++;
	p->due = now_ns + PAUSE_MAX_S * OT_NS_PER_SEC;
}

/* It ended by itself. */
static void take_end(const struct fl_standing *s, struct fl_program *p, int status, uint64_t now_ns)
{
	bool again = p->failing; /* already reported */

	p->failing = !WIFEXITED(status) || WEXITSTATUS(status);
	if (!p->failing) {
		p->state = FL_PROGRAM_ENDED;
		fl_standing_say(s, p, "has ended by itself");
		return;
	}
	p->failures++;
	/* one that ran for a while restarts without a longer pause */
	if (now_ns - p->began > PAUSE_MAX_S * OT_NS_PER_SEC)
		p->pause_s = PAUSE_MIN_S;
	p->state = FL_PROGRAM_WAITING;
	p->due = now_ns + p->pause_s * OT_NS_PER_SEC;
	if (WIFSIGNALED(status))
		fl_standing_say(s, p, "its process was ended by signal %d (%s); again in %u s",
				WTERMSIG(status), strsignal(WTERMSIG(status)), p->pause_s);
	else if (!again)
		fl_standing_say(s, p, "failed with exit status %d; again in %u s, then after longer pauses",
				WEXITSTATUS(status), p->pause_s);
	p->pause_s = p->pause_s * 2 < PAUSE_MAX_S ? p->pause_s * 2 : PAUSE_MAX_S;
}

static void take_ends(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns)
{
	int status;

	fl_program_listen(s, p, now_ns);
	if (!fl_program_reap(s, p, now_ns, &status))
		return;
	if (p->state != FL_PROGRAM_ENDING) {
		take_end(s, p, status, now_ns);
		return;
	}
	p->state = p->next;
	p->failing = false;
	p->due = now_ns;
}

/* When this program is due. */
static uint64_t step(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns)
{
	const uint64_t idle = s->read_ns + p->limits.ttl_s * OT_NS_PER_SEC;

	take_ends(s, p, now_ns);
	if (p->state == FL_PROGRAM_WAITING && now_ns >= p->due && p->is_sound)
		start(s, p, now_ns);
	if (p->state == FL_PROGRAM_RUNNING && now_ns >= idle) {
		fl_standing_say(s, p, "its metrics were not read for %u s: stopped until the next scrape",
				p->limits.ttl_s);
		fl_program_end(p, FL_PROGRAM_IDLE, now_ns);
	}
	if (p->state == FL_PROGRAM_ENDING && now_ns >= p->due) {
		kill(p->pid, SIGKILL); /* this leaves guests clean as well */
		p->due = now_ns + KILL_NS;
	}
	if (p->state == FL_PROGRAM_RUNNING)
		return idle;
	return p->state == FL_PROGRAM_ENDING || (p->state == FL_PROGRAM_WAITING && p->is_sound) ? p->due
												: UINT64_MAX;
}

static void forget(struct fl_standing *s, size_t i)
{
	struct fl_program *p = s->programs[i];

	s->count--;
	memmove(s->programs + i, s->programs + i + 1, (s->count - i) * sizeof(*s->programs));
	ot_arena_deinit(&p->arena);
	free(p);
}

uint64_t fl_standing_step(struct fl_standing *s, uint64_t now_ns)
{
	uint64_t next = UINT64_MAX;

	for (size_t i = 0; i < s->count;) {
		struct fl_program *p = s->programs[i];
		uint64_t due = step(s, p, now_ns);

		if (p->gone && p->pid <= 0) {
			forget(s, i);
			continue;
		}
		next = due < next ? due : next;
		i++;
	}
	return next;
}

nfds_t fl_standing_fds(const struct fl_standing *s, struct pollfd *ret)
{
	nfds_t n = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->programs[i]->said_fd >= 0)
			ret[n++] = (struct pollfd){ .fd = s->programs[i]->said_fd, .events = POLLIN };
	return n;
}

struct ot_err *fl_standing_create(const struct fl_standing_config *config, uint64_t now_ns,
				  struct fl_standing **ret)
{
	struct fl_standing *s = calloc(1, sizeof(*s));

	if (!s)
		return ot_err_nomem();
	s->config = *config;
	s->read_ns = now_ns;
	fl_standing_load(s, now_ns);
	*ret = s;
	return NULL;
}

void fl_standing_destroy(struct fl_standing *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->count; i++) {
		s->programs[i]->gone = true;
		fl_program_end(s->programs[i], FL_PROGRAM_ENDED, ot_now_ns());
	}
	while (s->count) {
		fl_standing_step(s, ot_now_ns());
		if (s->count)
			poll(NULL, 0, 20);
	}
	free(s);
}
