/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The live view on a terminal: one loop, which waits for keys, for the output of sessions, and for the next
 * period. A screen's session is a child (feed.h): the loop never waits for a guest.
 */
#include "cli/top/run.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "cli/options.h"
#include "cli/signals.h"
#include "cli/top/feed.h"
#include "cli/top/screen.h"
#include "consumer/messages.h"

/* The first numbers come soon: a rate needs two readings. */
#define FIRST_MS 500u

/* A question that is being answered. */
struct session {
	struct cli_top_question question;
	struct cli_top_feed feed;
	struct cli_top_answer answer;
	char program[2048];
};

struct view {
	struct cli_top_guests guests;
	struct cli_top_model model;
	struct cli_top_screen screen;
	struct session shown;     /* of the screen */
	struct session *counting; /* a guest's system calls each; owned */
	size_t ncounting, counting_cap;
	char status[256];
	unsigned long left; /* refreshes; 0: without end */
};

struct cli_top_guests cli_top_guests_here(const struct cli_top_options *o)
{
	struct rlimit files;

	/* a descriptor for each vCPU */
	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return (struct cli_top_guests){ .host = { "/proc", "/sys/kernel/debug/kvm" },
					.list = vp_qemu_list,
					.patterns = o->patterns,
					.npatterns = o->npatterns };
}

/* --- sessions -------------------------------------------------------------------------------------------- */

static void session_init(struct session *s)
{
	*s = (struct session){ 0 };
	cli_top_feed_init(&s->feed);
	cli_top_answer_init(&s->answer, 1);
}

static void session_end(struct session *s)
{
	cli_top_feed_stop(&s->feed);
	cli_top_answer_deinit(&s->answer);
}

static struct ot_err *session_ask(struct session *s, const struct cli_top_question *q)
{
	const char *argv[CLI_TOP_WORDS];
	char guest[16];
	struct ot_buf program;

	session_end(s);
	cli_top_answer_init(&s->answer, q->period_ms);
	s->question = *q;
	if (q->subject == CLI_TOP_ASK_NOTHING)
		return NULL;
	ot_buf_init_fixed(&program, s->program, sizeof(s->program));
	cli_top_program(q, &program);
	if (program.failed)
		return ot_err_new(OT_ERR_INTERNAL, "a program that is too long");
	cli_top_command(q, s->program, guest, argv);
	return cli_top_feed_start(&s->feed, argv);
}

/* The number of the session that counts a guest's system calls; v->ncounting: there is none. */
static size_t counting_of(const struct view *v, uint32_t guest)
{
	size_t i = 0;

	while (i < v->ncounting && v->counting[i].question.guest != guest)
		i++;
	return i;
}

static struct ot_err *begin_counting(struct view *v, uint32_t guest)
{
	const struct cli_top_question q = { CLI_TOP_ASK_CALLS, guest, 0, true, v->model.period_ms };

	if (!ot_grow(&v->counting, &v->counting_cap, v->ncounting + 1, sizeof(*v->counting)))
		return ot_err_nomem();
	session_init(&v->counting[v->ncounting]);
	return session_ask(&v->counting[v->ncounting++], &q);
}

static void end_counting(struct view *v, size_t i)
{
	struct cli_top_guest *guest = cli_top_guests_find(&v->guests, v->counting[i].question.guest);

	if (guest)
		guest->syscalls = NAN;
	session_end(&v->counting[i]);
	v->counting[i] = v->counting[--v->ncounting];
}

/* Guests whose system calls are counted are those that the model wants, as long as they are there. */
static struct ot_err *count_calls(struct view *v)
{
	struct cli_top_model *m = &v->model;

	for (size_t i = m->ncounted; i > 0; i--)
		if (!cli_top_guests_find(&v->guests, m->counted[i - 1]))
			cli_top_model_uncount(m, m->counted[i - 1]);
	for (size_t i = v->ncounting; i > 0; i--)
		if (!cli_top_model_counts(m, v->counting[i - 1].question.guest))
			end_counting(v, i - 1);
	for (size_t i = 0; i < m->ncounted; i++)
		if (counting_of(v, m->counted[i]) == v->ncounting)
			OT_TRY(begin_counting(v, m->counted[i]));
	return NULL;
}

/* Start the question of the present screen. */
static struct ot_err *ask(struct view *v)
{
	const struct cli_top_question q = cli_top_model_question(&v->model);

	OT_TRY(count_calls(v));
	if (cli_top_question_same(&q, &v->shown.question))
		return NULL;
	snprintf(v->status, sizeof(v->status), "%s",
		 q.subject == CLI_TOP_ASK_NOTHING ? "" : "asking the guest …");
	return session_ask(&v->shown, &q);
}

/* A child that has ended by itself has reported the reason. */
static void say_end(const struct session *s, char *to, size_t size)
{
	cli_top_feed_message(&s->feed, to, size);
	if (!*to)
		snprintf(to, size, "the guest's session has ended");
}

static void read_counting(struct view *v)
{
	for (size_t i = v->ncounting; i > 0; i--) {
		struct session *s = &v->counting[i - 1];
		struct cli_top_guest *guest = cli_top_guests_find(&v->guests, s->question.guest);
		bool runs = cli_top_feed_read(&s->feed, cli_top_answer_line, &s->answer);

		if (guest)
			guest->syscalls = runs ? cli_top_answer_calls(&s->answer) : NAN;
		if (runs && guest)
			continue;
		if (guest)
			say_end(s, v->model.message, sizeof(v->model.message));
		cli_top_model_uncount(&v->model, s->question.guest);
	}
}

/* The numbers of a screen are as new as its last period; a child's output meanwhile is its message. */
static void read_shown(struct view *v)
{
	struct session *s = &v->shown;

	if (!s->feed.pid)
		return;
	if (!cli_top_feed_read(&s->feed, cli_top_answer_line, &s->answer))
		say_end(s, v->status, sizeof(v->status));
	else if (s->answer.periods)
		*v->status = '\0';
}

/* --- drawing --------------------------------------------------------------------------------------------- */

static struct ot_err *draw(struct view *v)
{
	struct cli_top_heading heading = { .sums = cli_top_guests_sums(&v->guests), .status = v->status };
	char clock[16] = "";
	time_t now = time(NULL);
	struct tm tm;

	if (localtime_r(&now, &tm))
		strftime(clock, sizeof(clock), "%T", &tm);
	heading.clock = clock;
	if (v->model.level != CLI_TOP_GUESTS && !cli_top_guests_find(&v->guests, v->model.guest)) {
		cli_top_model_home(&v->model, "the guest has ended");
		OT_TRY(ask(v));
	}
	OT_TRY(cli_top_model_fill(&v->model, &v->guests, &v->shown.answer));
	return cli_top_screen_draw(&v->screen, &v->model, &heading);
}

/* --- keys ------------------------------------------------------------------------------------------------ */

/* An existing file is not overwritten. */
static void save(struct cli_top_model *m)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	ot_auto_close int fd = open(m->input, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

	if (fd < 0) {
		snprintf(m->message, sizeof(m->message), "%.200s: %s", m->input, strerror(errno));
		return;
	}
	cli_top_program_sheet(m, &text);
	struct ot_err *err = text.failed ? ot_err_nomem() : ot_write_all(fd, text.data, text.len);
	snprintf(m->message, sizeof(m->message), "%.200s: %s", m->input, err ? ot_err_message(err) : "saved");
	ot_err_destroy(err);
}

/* *ret_ends: the operator ended it. *ret_now: the operator requests new numbers. */
static struct ot_err *take_keys(struct view *v, bool *ret_ends, bool *ret_now)
{
	int key;

	while ((key = cli_top_screen_key(&v->screen)) >= 0) {
		enum cli_top_act act = key ? cli_top_key(&v->model, key) : CLI_TOP_GO_ON;

		*ret_ends |= act == CLI_TOP_QUIT;
		*ret_now |= act == CLI_TOP_REFRESH;
		if (act == CLI_TOP_SAVE)
			save(&v->model);
		OT_TRY(ask(v));
		/* the next key applies to the rows that this one selects */
		OT_TRY(draw(v));
	}
	return NULL;
}

/* --- the loop -------------------------------------------------------------------------------------------- */

/* Wait for a key, a line, a signal or @until. *ret_ends: a signal, or the terminal has closed. */
static struct ot_err *wait(struct view *v, int signals, uint64_t until, bool *ret_ends)
{
	ot_auto_free struct pollfd *fds = calloc(v->ncounting * 2 + 4, sizeof(*fds));
	nfds_t n = 0;

	if (!fds)
		return ot_err_nomem();
	fds[n++] = (struct pollfd){ .fd = signals, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = 0, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = v->shown.feed.out, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = v->shown.feed.err, .events = POLLIN };
	for (size_t i = 0; i < v->ncounting; i++) {
		fds[n++] = (struct pollfd){ .fd = v->counting[i].feed.out, .events = POLLIN };
		fds[n++] = (struct pollfd){ .fd = v->counting[i].feed.err, .events = POLLIN };
	}
	if (poll(fds, n, ot_ms_until(until)) < 0 && errno != EINTR) /* EINTR: the terminal has another size */
		return ot_err_os(errno, "poll");
	*ret_ends = fds[0].revents || fds[1].revents & (POLLHUP | POLLERR | POLLNVAL);
	return NULL;
}

static struct ot_err *loop(struct view *v, int signals)
{
	uint64_t next = 0, until = ot_now_ns() + FIRST_MS * 1000000ull;
	bool ends = false;

	while (!ends) {
		bool now = ot_now_ns() >= next;

		OT_TRY(take_keys(v, &ends, &now));
		if (ends)
			return NULL;
		if (now) {
			OT_TRY(cli_top_guests_refresh(&v->guests));
			next = next ? ot_now_ns() + v->model.period_ms * 1000000ull : until;
			if (v->left && !--v->left)
				return NULL;
		}
		read_counting(v);
		read_shown(v);
		OT_TRY(ask(v));
		OT_TRY(draw(v));
		OT_TRY(wait(v, signals, next, &ends));
	}
	return NULL;
}

static void view_deinit(struct view *v)
{
	session_end(&v->shown);
	for (size_t i = 0; i < v->ncounting; i++)
		session_end(&v->counting[i]);
	free(v->counting);
	cli_top_feed_wait_all();
	cli_top_model_deinit(&v->model);
	cli_top_guests_deinit(&v->guests);
}

int cli_top_run(const struct cli_top_options *o)
{
	struct view v = { .guests = cli_top_guests_here(o), .left = o->times ? o->times + 1 : 0 };
	ot_auto_close int signals = -1;

	cli_top_model_init(&v.model, o->period_ms);
	session_init(&v.shown);
	v.model.exits = o->exits;
	struct ot_err *err =
	    o->column ? cli_top_column_find(o, &v.model.orders[CLI_TOP_GUESTS].column) : NULL;
	if (!err)
		err = cli_signals_open(0, &signals);
	if (!err)
		err = cli_top_screen_open(&v.screen);
	if (!err)
		err = loop(&v, signals);
	cli_top_screen_close(&v.screen);
	view_deinit(&v);
	return err ? con_fail(err, "top") : CON_EXIT_OK;
}
