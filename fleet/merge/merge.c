/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merger's session: rounds of messages from the operator, messages from hosts, and output. The invariant:
 * however it ends (STOP, an operator that is silent or lost, a signal, an error), each host gets STOP,
 * and a host that is not reached stops when its own lease expires.
 */
#include "fleet/merge/merge.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/signals.h"
#include "dif/obj/verify.h"
#include "fleet/merge/internal.h"

#define HELD_NS   100000000ull  /* how often the links of hosts that wait are polled */
#define ENDING_NS 4000000000ull /* the wait for hosts at the end: STOP may have to be sent again */

/* --- sending -------------------------------------------------------------------------------------------------- */

/* Hosts wait while their data could not be sent on. */
static void set_held(struct fl_merge *m)
{
	m->fleet->held = !m->broken && !m->closing && fl_link_pending(m->link) > FL_MERGE_HOLD;
}

struct ot_err *fl_merge_send(struct fl_merge *m, enum fl_kind kind, const void *data, size_t len)
{
	if (m->broken)
		return NULL;
	struct ot_err *err = fl_link_send(m->link, kind, data, len);

	set_held(m);
	if (!err || ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_LIMIT)
		return err;
	m->broken = true;
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *fl_merge_send_buf(struct fl_merge *m, enum fl_kind kind, const struct ot_buf *body)
{
	return body->failed ? ot_err_nomem() : fl_merge_send(m, kind, body->data, body->len);
}

struct ot_err *fl_merge_say(struct fl_merge *m, const char *text)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	fl_put_say(&out, &(struct fl_say){ true, text });
	return fl_merge_send_buf(m, FL_SAY, &out);
}

static struct ot_err *send_hello(struct fl_merge *m)
{
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = m->config->name };
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	fl_clock_now(&hello.clock);
	ot_buf_init(&out);
	fl_put_hello(&out, &hello);
	return fl_merge_send_buf(m, FL_HELLO, &out);
}

/* The guest that stands for the sums. */
static struct ot_err *send_guest(struct fl_merge *m)
{
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	fl_put_guest(&out,
		     &(struct fl_guest){ .name = m->config->name, .joined = true, .text = "", .uuid = "" });
	return fl_merge_send_buf(m, FL_GUEST, &out);
}

static void log_line(const struct fl_merge *m, const char *line)
{
	if (m->config->log)
		m->config->log(m->config->arg, line);
}

/* --- the operator's messages ------------------------------------------------------------------------------------ */

static struct ot_err *take_hello(struct fl_merge *m, const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_hello hello;
	char line[sizeof(m->operator_name) + 64];

	OT_TRY(fl_get_hello(data, len, arena, &hello));
	if (hello.protocol != FL_PROTOCOL)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "%s speaks protocol %u of the fleet, and this outsight %u: both need the "
				  "same release",
				  m->config->name, FL_PROTOCOL, hello.protocol);
	snprintf(m->operator_name, sizeof(m->operator_name), "%s", hello.name);
	m->fleet->greeting = m->operator_name; /* the operator traces */
	m->greeted = true;
	snprintf(line, sizeof(line), "merging begins: hosts are invited on behalf of %s", m->operator_name);
	log_line(m, line);
	return send_guest(m);
}

/* A host whose aggregations differ from the operator's leaves the session. */
static void bind_hosts(struct fl_merge *m)
{
	for (uint32_t i = 0; i < m->fleet->nhosts; i++) {
		struct fl_host *h = m->fleet->hosts[i];
		struct ot_err *err = NULL;

		for (uint32_t k = 0; !err && k < h->nprograms && !fl_host_is_over(h); k++)
			err = fl_program_bind(h->programs[k], &m->prog);
		if (err)
			fl_host_lose(h, ot_err_message(err));
		ot_err_destroy(err);
	}
}

static struct ot_err *take_program(struct fl_merge *m, const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_program program;

	if (m->has_fold)
		return ot_err_new(OT_ERR_BAD_DATA, "PROGRAM a second time");
	OT_TRY(fl_get_program(data, len, arena, &program));
	dif_program_deinit(&m->prog);
	dif_program_init(&m->prog);
	OT_TRY(dif_dof_read(program.dof.data, program.dof.len, &m->prog));
	OT_TRY(dif_program_verify(&m->prog));
	OT_TRY(fl_fold_init(m));
	bind_hosts(m);
	const struct vp_sink sink = fl_fold_sink(m);

	return fl_fleet_bind(m->fleet, &m->prog, &sink, 0);
}

static struct ot_err *dispatch(struct fl_merge *m, enum fl_kind kind, const void *data, size_t len,
			       struct ot_arena *arena)
{
	if (m->greeted == (kind == FL_HELLO))
		return ot_err_new(OT_ERR_BAD_DATA, "%s out of order", fl_kind_name(kind));
	switch ((unsigned)kind) {
	case FL_HELLO:
		return take_hello(m, data, len, arena);
	case FL_MEMBER:
		return fl_members_take(m, data, len);
	case FL_PROGRAM:
		return take_program(m, data, len, arena);
	case FL_OF:
		return fl_relay_take(m, data, len);
	case FL_STOP:
		m->stopped = true;
		return NULL;
	default:
		return ot_err_new(OT_ERR_BAD_DATA, "%s, which no operator sends", fl_kind_name(kind));
	}
}

/* An operator that disconnects, loses its network or violates the protocol ends the session. */
static void poll_link(struct fl_merge *m)
{
	if (m->broken)
		return;
	struct ot_err *err = fl_link_poll(m->link);

	m->broken = err || fl_link_silence_ns(m->link) > m->lease_ns;
	ot_err_destroy(err);
	set_held(m);
}

void fl_merge_keep_alive(struct fl_merge *m)
{
	if (!m->broken && ot_now_ns() >= fl_link_due_ns(m->link))
		poll_link(m);
}

static struct ot_err *take_messages(struct fl_merge *m)
{
	struct ot_err *err = NULL;
	enum fl_kind kind;
	const void *data;
	size_t len;

	poll_link(m);
	while (!err && !m->broken && !m->stopped && fl_link_receive(m->link, &kind, &data, &len)) {
		struct ot_arena arena;

		ot_arena_init(&arena);
		err = dispatch(m, kind, data, len, &arena);
		ot_arena_deinit(&arena);
	}
	return err;
}

/* --- rounds ------------------------------------------------------------------------------------------------------ */

static bool is_over(const struct fl_merge *m)
{
	return m->stopped || m->broken || m->signal;
}

struct ot_err *fl_merge_step(struct fl_merge *m)
{
	bool exited;
	int status;

	OT_TRY(take_messages(m));
	if (is_over(m))
		return NULL;
	OT_TRY(fl_members_step(m));
	OT_TRY(fl_fleet_take(m->fleet, &exited, &status)); /* ENDED reports a host's exit() */
	OT_TRY(fl_sums_send(m, false));
	OT_TRY(fl_relay_endings(m));
	poll_link(m);
	return NULL;
}

static uint64_t endings_due_ns(const struct fl_merge *m)
{
	const bool is_full = fl_link_pending(m->link) >= FL_MERGE_FLIGHT;

	return m->endings_ns && !is_full ? m->endings_ns + FL_MERGE_ENDINGS : UINT64_MAX;
}

static uint64_t due_ns(const struct fl_merge *m)
{
	const uint64_t times[] = { m->broken ? UINT64_MAX : fl_link_due_ns(m->link), fl_members_due_ns(m),
				   fl_sums_due_ns(m), endings_due_ns(m) };
	/* the lease may be shorter than a heartbeat */
	uint64_t due = ot_now_ns() + (m->fleet->held || m->closing ? HELD_NS : m->lease_ns);

	for (size_t i = 0; i < OT_ARRAY_SIZE(times); i++)
		if (times[i] < due)
			due = times[i];
	return due;
}

/* Waiting hosts are not read. */
static void wait_for(struct fl_merge *m)
{
	struct pollfd fds[] = { { .fd = -1, .events = POLLIN },
				{ m->signals, POLLIN, 0 },
				{ m->answers ? fl_inbox_fd(m->answers) : -1, POLLIN, 0 },
				{ m->fleet->held ? -1 : fl_fleet_fd(m->fleet), POLLIN, 0 } };

	if (!m->broken)
		fds[0].fd = fl_link_fd(m->link, &fds[0].events);
	poll(fds, OT_ARRAY_SIZE(fds), ot_ms_until(due_ns(m)));
}

static void check_signals(struct fl_merge *m)
{
	struct signalfd_siginfo info;

	while (read(m->signals, &info, sizeof(info)) == (ssize_t)sizeof(info))
		m->signal = (int)info.ssi_signo;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void send_ended(struct fl_merge *m, const struct ot_err *err)
{
	const struct fl_ended ended = { .failed = err || m->signal,
					.text = err         ? ot_err_message(err)
						: m->signal ? "the merging process was ended on its host"
							    : "" };
	ot_auto(ot_buf_deinit) struct ot_buf out = { 0 };

	ot_buf_init(&out);
	fl_put_ended(&out, &ended);
	ot_err_destroy(fl_merge_send_buf(m, FL_ENDED, &out));
}

static void tell_forged(struct fl_merge *m)
{
	char text[128];

	if (!m->forged)
		return;
	snprintf(text, sizeof(text),
		 "%u answers were ignored: they are not signed by the hosts that they name", m->forged);
	ot_err_destroy(fl_merge_say(m, text));
}

/* *ret_lost: the number of hosts that did not end by themselves. */
static uint32_t count_hosts(const struct fl_merge *m, uint32_t *ret_lost)
{
	uint32_t n = 0;

	*ret_lost = 0;
	for (uint32_t i = 0; i < FL_MEMBERS_MAX; i++) {
		const struct fl_member_here *member = &m->members[i];

		if (member->state == FL_MEMBER_NONE)
			continue;
		n++;
		*ret_lost += !member->host || member->host->state != FL_HOST_ENDED;
	}
	return n;
}

static void stop_hosts(struct fl_merge *m)
{
	for (uint32_t i = 0; i < m->fleet->nhosts; i++)
		if (!fl_host_is_over(m->fleet->hosts[i]))
			ot_err_destroy(fl_host_ask_to_stop(m->fleet->hosts[i]));
}

static void drop_messages(struct fl_merge *m)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	poll_link(m);
	/* an unread message would be due for ever */
	while (!m->broken && fl_link_receive(m->link, &kind, &data, &len))
		;
}

/* Wait until the operator has received everything, and every host has ended. */
static void settle(struct fl_merge *m)
{
	const uint64_t until = ot_now_ns() + ENDING_NS;
	const int first = m->signal;
	struct ot_err *err = NULL;
	bool exited;
	int status;

	while (!err && m->signal == first) {
		const bool has_all = m->broken || !fl_link_pending(m->link);

		err = fl_fleet_take(m->fleet, &exited, &status);
		drop_messages(m);
		if (has_all && (fl_fleet_has_ended(m->fleet) || ot_now_ns() > until))
			break;
		wait_for(m);
		check_signals(m);
	}
	ot_err_destroy(err);
}

static int finish(struct fl_merge *m, struct ot_err *err)
{
	char line[160];
	uint32_t lost, n = count_hosts(m, &lost);

	const bool lost_operator = m->broken;
	const bool failed = err || lost_operator || m->signal;

	if (err || m->signal) /* messages that were received are not for the merger */
		ot_err_destroy(fl_sums_send(m, true));
	tell_forged(m);
	m->closing = true;
	send_ended(m, err);
	stop_hosts(m);
	settle(m);
	if (err)
		log_line(m, ot_err_message(err));
	else if (lost_operator)
		log_line(m, "the operator is lost: its hosts are stopped");
	snprintf(line, sizeof(line), "merging ends: %u hosts, %u of them lost or stopped before they ended",
		 n, lost);
	log_line(m, line);
	ot_err_destroy(err);
	return failed;
}

/* --- the whole ------------------------------------------------------------------------------------------------------ */

static struct ot_err *open_fleet(struct fl_merge *m)
{
	const struct fl_fleet_config config = { .texts = &m->none, .opts = &m->opts };

	OT_TRY(fl_fleet_create(&config, &m->fleet));
	fl_room_find(m->fleet);
	fl_relay_init(m);
	if (!m->config->broker)
		return NULL;
	fl_broker_own_subject(m->reply);
	return fl_inbox_open(m->config->broker, m->reply, &m->answers);
}

struct ot_err *fl_merge_create(struct fl_link *link, const struct fl_merge_config *config,
			       struct fl_merge **ret)
{
	struct fl_merge *m = calloc(1, sizeof(*m));

	if (!m)
		return ot_err_nomem();
	*m = (struct fl_merge){ .config = config,
				.link = link,
				.lease_ns = config->lease_ns ? config->lease_ns : FL_LEASE_NS,
				.answer_ns = FL_MERGE_ANSWER,
				.signals = -1 };
	dif_options_init(&m->opts);
	dif_program_init(&m->prog);
	ot_arena_init(&m->arena);
	fl_keeping_init(&m->kept);
	ot_buf_init(&m->of);
	ot_buf_init(&m->list);
	struct ot_err *err = open_fleet(m);

	if (!err)
		err = send_hello(m);
	if (err) {
		fl_merge_destroy(m);
		return err;
	}
	*ret = m;
	return NULL;
}

void fl_merge_destroy(struct fl_merge *m)
{
	if (!m)
		return;
	m->closing = true;
	fl_members_deinit(m);
	if (m->has_fold)
		fl_fold_deinit(&m->fold);
	fl_fleet_destroy(m->fleet);
	fl_inbox_close(m->answers);
	fl_keeping_deinit(&m->kept);
	dif_program_deinit(&m->prog);
	dif_options_deinit(&m->opts);
	ot_arena_deinit(&m->arena);
	ot_buf_deinit(&m->of);
	ot_buf_deinit(&m->list);
	if (m->signals >= 0)
		close(m->signals);
	free(m);
}

int fl_merge_run(struct fl_link *link, const struct fl_merge_config *config)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct fl_merge *m;
	struct ot_err *err = fl_merge_create(link, config, &m);

	if (err) {
		if (config->log)
			config->log(config->arg, ot_err_message(err));
		ot_err_destroy(err);
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	err = ot_signals_open(ending, OT_ARRAY_SIZE(ending), &m->signals);
	while (!err && !is_over(m)) {
		err = fl_merge_step(m);
		if (err || is_over(m))
			break;
		wait_for(m);
		check_signals(m);
	}
	const int status = finish(m, err);

	fl_merge_destroy(m);
	return status;
}
