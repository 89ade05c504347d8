/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The life of a worker: HELLO, RUN, START, data, the end. The invariant: on every path (STOP, exit(), a
 * signal, a link that is gone, an operator that is silent) the session is destroyed, which takes its probes
 * out of the guests, before anything else that may take time.
 */
#include "fleet/host/worker.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "consumer/session_log.h"
#include "fleet/host/internal.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1 };

/* How long an operator may take for the next message of the beginning, and how long it may acknowledge
 * nothing at the end, in leases. Heartbeats alone must not keep a session and its probes alive for ever. */
#define BEGIN_LEASES  12
#define SETTLE_LEASES 6

#define SAME_SIGNAL_NS OT_NS_PER_SEC /* a second signal within this is the first one again */

/* --- the link --------------------------------------------------------------------------------------------- */

static void break_off(struct fl_worker *w)
{
	w->broken = w->stopped = true;
}

/* An operator that disconnects, loses its network or violates the protocol ends the session. */
static void poll_link(struct fl_worker *w)
{
	if (w->broken)
		return;
	struct ot_err *err = fl_link_poll(w->link);
	if (err || fl_link_silence_ns(w->link) > w->lease_ns)
		break_off(w);
	ot_err_destroy(err);
}

/* If the daemon is killed, its end is reported once for each of its threads, as each in turn becomes the
 * parent (kernel/exit.c, forget_original_parent()). */
static void check_signals(struct fl_worker *w)
{
	const int sig = fl_wake_signal(&w->wake);
	const uint64_t now = ot_now_ns();

	if (!sig)
		return;
	if (!w->signal) {
		w->signal = sig;
		w->signal_ns = now;
	} else if (now - w->signal_ns >= SAME_SIGNAL_NS) { /* the user does not want to wait */
		break_off(w);
	}
	w->stopped = true;
}

static void check_time(struct fl_worker *w)
{
	w->expired |= w->end_ns && ot_now_ns() >= w->end_ns;
	w->stopped |= w->expired;
}

/* Take messages during a session: only STOP is valid. */
static void take_messages(struct fl_worker *w)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	poll_link(w);
	while (!w->broken && fl_link_receive(w->link, &kind, &data, &len)) {
		w->stopped = true;
		if (kind != FL_STOP)
			break_off(w);
	}
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return b && b < a ? b : a;
}

/* The latest time at which something is due. */
static struct ot_err *set_wake(struct fl_worker *w)
{
	/* the lease is checked when something is due, and may be shorter than a heartbeat */
	const uint64_t due = earliest(fl_link_due_ns(w->link), ot_now_ns() + w->lease_ns);

	return fl_wake_set(&w->wake, w->link, earliest(due, w->end_ns));
}

/* Wait for the message @wanted; *ret_data is borrowed from the link. False: the session ended first. */
static bool await(struct fl_worker *w, enum fl_kind wanted, const void **ret_data, size_t *ret_len)
{
	const uint64_t until = ot_now_ns() + BEGIN_LEASES * w->lease_ns;
	enum fl_kind kind;

	while (!w->stopped) {
		poll_link(w);
		w->unbegun = ot_now_ns() >= until;
		w->stopped |= w->unbegun;
		if (!w->broken && fl_link_receive(w->link, &kind, ret_data, ret_len)) {
			if (kind == wanted)
				return true;
			w->stopped = true; /* STOP is valid at any time */
			w->broken = kind != FL_STOP;
			break;
		}
		struct ot_err *err = set_wake(w);
		if (err)
			break_off(w);
		else
			fl_wake_wait(&w->wake);
		ot_err_destroy(err);
		check_signals(w);
	}
	return false;
}

bool fl_worker_rest(struct fl_worker *w, uint64_t until_ns)
{
	while (!w->stopped && ot_now_ns() < until_ns) {
		take_messages(w);
		struct ot_err *err =
		    w->stopped ? NULL
			       : fl_wake_set(&w->wake, w->link, earliest(fl_link_due_ns(w->link), until_ns));
		if (err)
			break_off(w);
		else if (!w->stopped)
			fl_wake_wait(&w->wake);
		ot_err_destroy(err);
		check_signals(w);
	}
	return !w->stopped;
}

/* Wait until everything is acknowledged, or the operator is lost or accepts nothing. */
static void settle(struct fl_worker *w)
{
	size_t least = SIZE_MAX;
	uint64_t until = 0;
	enum fl_kind kind;
	const void *data;
	size_t len;

	while (!w->broken && fl_link_pending(w->link)) {
		if (fl_link_pending(w->link) < least) {
			least = fl_link_pending(w->link);
			until = ot_now_ns() + SETTLE_LEASES * w->lease_ns;
		} else if (ot_now_ns() >= until) {
			break_off(w);
			break;
		}
		struct ot_err *err = set_wake(w);

		if (!err)
			fl_wake_wait(&w->wake);
		ot_err_destroy(err);
		check_signals(w);
		poll_link(w);
		/* a STOP that crossed the end: an unread message would be due for ever */
		while (fl_link_receive(w->link, &kind, &data, &len))
			;
	}
}

/* --- the beginning ---------------------------------------------------------------------------------------- */

static struct ot_err *send_hello(struct fl_worker *w)
{
	struct fl_hello m = { .protocol = FL_PROTOCOL, .name = w->config->host };
	struct ot_buf out;

	fl_clock_now(&m.clock);
	ot_buf_init(&out);
	fl_put_hello(&out, &m);
	struct ot_err *err = fl_send(w, FL_HELLO, &out);
	ot_buf_deinit(&out);
	return err;
}

static struct ot_err *read_hello(struct fl_worker *w, const void *data, size_t len)
{
	struct fl_hello m;

	OT_TRY(fl_get_hello(data, len, &w->arena, &m));
	w->reason = FL_REASON_OTHER;
	if (m.protocol != FL_PROTOCOL)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "%s speaks protocol %u of the fleet, and this outsight %u: both need the "
				  "same release",
				  w->config->host, FL_PROTOCOL, m.protocol);
	snprintf(w->operator_name, sizeof(w->operator_name), "%s", m.name);
	return NULL;
}

/* @err is consumed. */
static int refuse(struct fl_worker *w, struct ot_err *err)
{
	fl_log_refused(w, ot_err_message(err));
	ot_err_destroy(fl_send_refused(w, w->reason, ot_err_message(err)));
	ot_err_destroy(err);
	return EXIT_FAILED;
}

/* --- tracing ---------------------------------------------------------------------------------------------- */

static struct ot_err *start(struct fl_worker *w)
{
	struct ot_buf none = { 0 };

	if (w->run.opts.ttl_ns)
		w->end_ns = ot_now_ns() + w->run.opts.ttl_ns;
	OT_TRY(vp_session_start(w->session));
	OT_TRY(fl_send(w, FL_STARTED, &none));
	OT_TRY(fl_send_arrived(w));
	OT_TRY(con_joining_start(w->joining));
	con_session_take_records(w->session, 0); /* con_joining_take() does this for guests that join */
	for (uint32_t i = 0; i < vp_session_nguests(w->session); i++)
		fl_guest_notes(w, i);
	return NULL;
}

static struct ot_err *trace_loop(struct fl_worker *w, enum vp_session_state *state)
{
	bool more;

	while (*state == VP_SESSION_ACTIVE) {
		take_messages(w);
		check_signals(w);
		check_time(w);
		if (w->stopped)
			break;
		OT_TRY(fl_send_waiting(w, false, &more));
		take_messages(
		    w); /* sending may have received a message, which would not wake this thread again */
		if (w->stopped)
			break;
		OT_TRY(set_wake(w));
		OT_TRY(vp_session_sleep(w->session, w->wake.epoll_fd));
		OT_TRY(vp_session_take(w->session, state));
		con_joining_take(w->joining);
	}
	return NULL;
}

/* Remove the probes and send the remaining data. Does not wait once the link is gone. */
static struct ot_err *finish(struct fl_worker *w)
{
	bool more = true;

	con_joining_stop(w->joining);
	OT_TRY(vp_session_stop(w->session));
	while (more && !w->broken) {
		OT_TRY(fl_send_waiting(w, true, &more));
		settle(w);
	}
	return NULL;
}

/* As for a local session: a guest that ended by itself is not a failure, a lost guest is. */
static bool is_lost(const struct fl_worker *w)
{
	enum vp_guest_end how;

	return w->session && vp_session_guest_end(w->session, &how) && how != VP_GUEST_POWERED_OFF &&
	       how != VP_GUEST_RESET;
}

/* The reason in words, unless the operator ended it. */
static const char *why_ended(const struct fl_worker *w, const struct ot_err *err)
{
	if (err)
		return ot_err_message(err);
	if (w->signal)
		return "the session was ended on its host";
	if (w->unbegun)
		return "the operator did not start the session in time";
	if (w->expired)
		return "the session's time limit has passed";
	const char *gone = w->session ? vp_session_gone_reason(w->session) : NULL;
	return gone ? gone : "";
}

static void send_ended(struct fl_worker *w, enum vp_session_state state, const struct ot_err *err)
{
	const struct fl_ended m = {
		.exited = state == VP_SESSION_EXITED,
		.status = w->session ? vp_session_exit_status(w->session) : 0,
		.failed = err || w->signal || w->unbegun || is_lost(w),
		.text = why_ended(w, err),
	};
	struct ot_buf out;

	ot_buf_init(&out);
	fl_put_ended(&out, &m);
	ot_err_destroy(fl_send(w, FL_ENDED, &out));
	ot_buf_deinit(&out);
}

/* Before anything was traced. */
static int leave(struct fl_worker *w)
{
	send_ended(w, VP_SESSION_ACTIVE, NULL);
	return w->broken || w->signal || w->unbegun ? EXIT_FAILED : EXIT_FINE;
}

static int trace(struct fl_worker *w)
{
	enum vp_session_state state = VP_SESSION_ACTIVE;
	struct ot_err *err = start(w);

	if (!err)
		err = trace_loop(w, &state);
	if (!err)
		err = finish(w);
	send_ended(w, state, err);
	const bool failed = err || w->broken || w->signal;
	ot_err_destroy(err);
	return failed ? EXIT_FAILED : EXIT_FINE;
}

/* --- the whole -------------------------------------------------------------------------------------------- */

static void init(struct fl_worker *w, struct fl_link *link, const struct fl_worker_config *config)
{
	*w = (struct fl_worker){
		.config = config,
		.link = link,
		.lease_ns = config->lease_ns ? config->lease_ns : FL_LEASE_NS,
		.reason = FL_REASON_OTHER,
	};
	fl_run_here_init(&w->run);
	ot_arena_init(&w->arena);
	ot_map_init(&w->places);
	fl_records_init(&w->records);
	ot_buf_init(&w->out.enabled);
	ot_buf_init(&w->out.faults);
	ot_buf_init(&w->scratch);
	const struct con_symbols symbols = fl_guests_symbols(w);
	fl_names_init(&w->names, &symbols, &w->run.opts);
}

/* The session borrows the program, and guests that join borrow from the session. */
static void end_session(struct fl_worker *w)
{
	vp_session_destroy(w->session);
	w->session = NULL;
	con_joining_destroy(w->joining);
	w->joining = NULL;
	con_compilation_deinit(&w->comp);
}

static void deinit(struct fl_worker *w)
{
	if (w->has_gather)
		fl_gather_deinit(&w->gather);
	fl_records_deinit(&w->records);
	fl_names_deinit(&w->names);
	ot_buf_deinit(&w->out.enabled);
	ot_buf_deinit(&w->out.faults);
	free(w->out.losses.items);
	ot_buf_deinit(&w->scratch);
	ot_map_deinit(&w->places);
	ot_arena_deinit(&w->arena);
	free(w->known);
	fl_run_here_deinit(&w->run);
	fl_wake_close(&w->wake);
}

static struct ot_err *check_invited(struct fl_worker *w, const void *data, size_t len)
{
	if (!w->config->invited || w->config->invited(w->config->arg, data, len))
		return NULL;
	w->reason = FL_REASON_TRUST;
	return ot_err_new(OT_ERR_PERMISSION, "this is not the program that the operator has signed");
}

static int run(struct fl_worker *w)
{
	const void *data;
	size_t len;

	struct ot_err *err = send_hello(w);
	if (!err && !await(w, FL_HELLO, &data, &len))
		return leave(w);
	if (!err)
		err = read_hello(w, data, len);
	if (!err && !await(w, FL_RUN, &data, &len))
		return leave(w);
	if (!err)
		err = check_invited(w, data, len);
	if (!err)
		err = fl_prepare(w, data, len);
	if (err)
		return refuse(w, err);
	return await(w, FL_START, &data, &len) ? trace(w) : leave(w);
}

int fl_worker_run(struct fl_link *link, const struct fl_worker_config *config)
{
	struct fl_worker *w = malloc(sizeof(*w));
	int status = EXIT_FAILED;

	if (!w)
		return EXIT_FAILED;
	init(w, link, config);
	struct ot_err *err = fl_wake_open(&w->wake);
	if (!err)
		status = run(w);
	ot_err_destroy(err);
	end_session(w);
	settle(w);
	fl_log_end(w, status);
	deinit(w);
	free(w);
	return status;
}
