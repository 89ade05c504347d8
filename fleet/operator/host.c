/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One host: which message may come when, and its end. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/units.h"
#include "fleet/link/seal.h"
#include "fleet/operator/internal.h"

#define ROUNDS 64 /* of polls, before other hosts have their turn */

/* --- life ----------------------------------------------------------------------------------------------- */

static struct ot_err *greet(struct fl_host *h)
{
	char machine[256] = "", name[512];
	const char *user = getenv("USER");
	const struct fl_relay *relay = h->fleet->config.relay;
	struct fl_hello hello = { .protocol = FL_PROTOCOL, .name = name };
	struct ot_buf body;

	gethostname(machine, sizeof(machine) - 1);
	snprintf(name, sizeof(name), "%.200s@%s", user ? user : "?", machine);
	if (relay && relay->name)
		hello.name = relay->name;
	fl_clock_now(&hello.clock);
	ot_buf_init(&body);
	fl_put_hello(&body, &hello);
	struct ot_err *err = fl_host_send(h, FL_HELLO, &body);
	ot_buf_deinit(&body);
	return err;
}

struct ot_err *fl_host_create(struct fl_fleet *fleet, const char *name, const char *spec,
			      struct fl_carrier *carrier, struct fl_seal *seal, uint32_t index,
			      struct fl_host **ret)
{
	struct fl_host *h = calloc(1, sizeof(*h));
	struct ot_err *err;

	if (!h) {
		fl_carrier_destroy(carrier);
		fl_seal_destroy(seal);
		return ot_err_nomem();
	}
	*h = (struct fl_host){ .fleet = fleet, .index = index, .fd = -1, .heard_ns = ot_now_ns() };
	if (carrier->ops->listen)
		carrier->ops->listen(carrier, fl_host_hear, h);
	ot_arena_init(&h->arena);
	ot_map_init(&h->enabled);
	ot_map_init(&h->names);
	ot_buf_init(&h->guests);
	ot_buf_init(&h->run);
	h->name = strdup(name);
	h->spec = strdup(spec);
	err = fl_link_create(carrier, seal, NULL, NULL, &h->link);
	if (!err && (!h->name || !h->spec))
		err = ot_err_nomem();
	if (!err)
		err = greet(h);
	if (!err)
		err = fl_host_watch(h);
	if (err) {
		fl_host_destroy(h);
		return err;
	}
	*ret = h;
	return NULL;
}

static void unlink_host(struct fl_host *h)
{
	if (h->fd >= 0)
		epoll_ctl(h->fleet->set, EPOLL_CTL_DEL, h->fd, NULL);
	h->fd = -1;
	fl_link_destroy(h->link);
	h->link = NULL;
}

void fl_host_destroy(struct fl_host *h)
{
	if (!h)
		return;
	unlink_host(h);
	for (uint32_t i = 0; i < h->nprograms; i++)
		fl_program_destroy(h->programs[i]);
	for (uint32_t i = 0; i < VP_GUESTS_MAX; i++)
		free(h->there[i].name);
	ot_map_deinit(&h->enabled);
	ot_map_deinit(&h->names);
	ot_arena_deinit(&h->arena);
	ot_buf_deinit(&h->guests);
	ot_buf_deinit(&h->run);
	free(h->name);
	free(h->spec);
	free(h->left_text);
	free(h);
}

struct ot_err *fl_host_watch(struct fl_host *h)
{
	struct epoll_event ev = { 0 };
	short events;
	int fd;

	if (!h->link)
		return NULL;
	fd = fl_link_fd(h->link, &events);
	if (fd == h->fd && events == h->events)
		return NULL;
	ev.events = (events & POLLIN ? (uint32_t)EPOLLIN : 0) | (events & POLLOUT ? (uint32_t)EPOLLOUT : 0);
	ev.data.u32 = h->index;
	if (fd != h->fd && h->fd >= 0)
		epoll_ctl(h->fleet->set, EPOLL_CTL_DEL, h->fd, NULL);
	if (epoll_ctl(h->fleet->set, fd == h->fd ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &ev) < 0)
		return ot_err_os(errno, "epoll");
	h->fd = fd;
	h->events = events;
	return NULL;
}

struct ot_err *fl_host_send(struct fl_host *h, enum fl_kind kind, const struct ot_buf *body)
{
	if (body && body->failed)
		return ot_err_nomem();
	return fl_link_send(h->link, kind, body ? body->data : NULL, body ? body->len : 0);
}

struct ot_err *fl_host_begin(struct fl_host *h)
{
	OT_TRY(fl_host_send(h, FL_START, NULL));
	h->state = FL_HOST_STARTING;
	return NULL;
}

struct ot_err *fl_host_ask_to_stop(struct fl_host *h)
{
	if (h->stopped_ns)
		return NULL;
	h->stopped_ns = ot_now_ns();
	return fl_host_send(h, FL_STOP, NULL);
}

void fl_host_lose(struct fl_host *h, const char *why)
{
	const struct fl_relay *relay = h->fleet->config.relay;
	ot_auto_free char *text = NULL;

	h->state = FL_HOST_LOST;
	h->ended_ns = ot_now_ns();
	if (h->fleet->tap)
		h->fleet->tap->lost(h->fleet->tap->arg, h, why);
	if (asprintf(&text, "the host is lost: %s", why) < 0)
		text = NULL;
	else
		fl_host_say(h, text);
	unlink_host(h);
	if (relay)
		relay->lost(relay->arg, h->index, h->ended_ns - h->heard_ns, why);
}

/* --- messages ------------------------------------------------------------------------------------------- */

static struct ot_err *send_run(struct fl_host *h)
{
	struct ot_buf body;

	if (h->run.len)
		return fl_host_send(h, FL_RUN, &h->run);
	ot_buf_init(&body);
	struct ot_err *err = fl_run_put(h->fleet, ot_buf_str(&h->guests), &body);
	if (!err)
		err = fl_host_send(h, FL_RUN, &body);
	ot_buf_deinit(&body);
	return err;
}

static struct ot_err *on_hello(struct fl_host *h, const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_hello hello;

	OT_TRY(fl_get_hello(data, len, arena, &hello));
	if (hello.protocol != FL_PROTOCOL)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "its outsight-serve speaks protocol %u, this outsight %u: install one release "
		    "on both",
		    hello.protocol, FL_PROTOCOL);
	fl_host_take_clock(h, &hello.clock);
	OT_TRY(send_run(h));
	h->state = FL_HOST_ASKED;
	return NULL;
}

/* As an error of this side's own: the host has printed nothing. */
static struct ot_err *on_refused(const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_refused m;

	OT_TRY(fl_get_refused(data, len, arena, &m));
	char *text = ot_arena_strdup(arena, m.text);
	if (!text)
		return ot_err_nomem();
	fl_tame_lines(text);
	for (size_t n = strlen(text); n && text[n - 1] == '\n';)
		text[--n] = '\0';
	return ot_err_new(m.reason == FL_REASON_PROGRAM ? OT_ERR_SYNTAX
			  : m.reason == FL_REASON_GUEST ? OT_ERR_NOT_FOUND
							: OT_ERR_PERMISSION,
			  "%s", *text ? text : "refused");
}

static struct ot_err *on_ready(struct fl_host *h, const void *data, size_t len, struct ot_arena *arena)
{
	OT_TRY(fl_get_ready(data, len, arena, &h->ready));
	h->state = FL_HOST_READY;
	/* the others wait for each other, and begin together */
	return h->follows ? fl_host_start(h) : NULL;
}

static struct ot_err *on_ended(struct fl_host *h, const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_ended m;

	OT_TRY(fl_get_ended(data, len, arena, &m));
	if (h->state < FL_HOST_STARTING && !(h->follows && h->stopped_ns))
		return ot_err_new(OT_ERR_GUEST_GONE, "it has ended: %s",
				  *m.text ? m.text : "no reason is known");
	h->state = FL_HOST_ENDED;
	h->ended_ns = ot_now_ns();
	h->exited = m.exited;
	h->status = m.status & 0xff;
	h->has_moved = m.failed && fl_follow_explains(h, m.text);
	h->failed = m.failed && !h->has_moved;
	if (h->failed)
		fl_host_say(h, *m.text ? m.text : "the session there has failed");
	return NULL;
}

/* Which states a message may come in, the first and the last. */
struct place {
	enum fl_host_state first, last;
};

static struct place place_of(enum fl_kind kind)
{
	switch ((unsigned)kind) {
	case FL_HELLO:
		return (struct place){ FL_HOST_GREETED, FL_HOST_GREETED };
	case FL_REFUSED:
		return (struct place){ FL_HOST_GREETED, FL_HOST_STARTING };
	case FL_READY:
		return (struct place){ FL_HOST_ASKED, FL_HOST_ASKED };
	case FL_STARTED:
		return (struct place){ FL_HOST_STARTING, FL_HOST_STARTING };
	case FL_PROGRAM:
	case FL_ENABLED:
	case FL_GUEST:
	case FL_SAY:
	case FL_NAMES:
	case FL_ENDED:
		return (struct place){ FL_HOST_ASKED, FL_HOST_RUNNING };
	case FL_RECORDS:
	case FL_AGGREGATES:
	case FL_FAULTS:
	case FL_DROPS:
	case FL_OVERLOAD:
		return (struct place){ FL_HOST_STARTING, FL_HOST_RUNNING };
	default:
		return (struct place){ FL_HOST_LOST, FL_HOST_GREETED };
	}
}

static struct ot_err *dispatch(struct fl_host *h, enum fl_kind kind, const void *data, size_t len,
			       struct ot_arena *arena)
{
	switch ((unsigned)kind) {
	case FL_HELLO:
		return on_hello(h, data, len, arena);
	case FL_REFUSED:
		return on_refused(data, len, arena);
	case FL_READY:
		return on_ready(h, data, len, arena);
	case FL_STARTED:
		h->state = FL_HOST_RUNNING;
		return NULL;
	case FL_PROGRAM:
		return fl_host_take_program(h, data, len);
	case FL_ENABLED:
		return fl_host_take_enabled(h, data, len);
	case FL_GUEST:
		return fl_host_take_guest(h, data, len);
	case FL_SAY:
		return fl_host_take_say(h, data, len);
	case FL_NAMES:
		return fl_host_take_names(h, data, len);
	case FL_ENDED:
		return on_ended(h, data, len, arena);
	default:
		return fl_host_take_data(h, kind, data, len);
	}
}

/* For whom the fleet is collected. */
static struct ot_err *pass_on(struct fl_host *h, enum fl_kind kind, const void *data, size_t len,
			      struct ot_err *err)
{
	const struct fl_relay *relay = h->fleet->config.relay;

	if (!relay || !relay->message || (err && kind != FL_REFUSED && kind != FL_ENDED))
		return err;
	struct ot_err *other = relay->message(relay->arg, h->index, kind, data, len);

	if (!err)
		return other;
	ot_err_destroy(other);
	return err;
}

static struct ot_err *take(struct fl_host *h, enum fl_kind kind, const void *data, size_t len)
{
	const struct place place = place_of(kind);
	struct ot_arena arena;

	h->heard_ns = ot_now_ns();
	if (h->state < place.first || h->state > place.last)
		return ot_err_new(OT_ERR_BAD_DATA, "%s out of its order", fl_kind_name(kind));
	ot_arena_init(&arena);
	struct ot_err *err = pass_on(h, kind, data, len, dispatch(h, kind, data, len, &arena));
	ot_arena_deinit(&arena);
	return pass_on(h, kind, data, len, err);
}

/* --- what has come -------------------------------------------------------------------------------------- */

static struct ot_err *take_all(struct fl_host *h, bool *ret_any)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	*ret_any = false;
	/* What a host says that is over is taken from the link, which calls it due, and is nothing. */
	while (h->link && !h->fleet->held && fl_link_receive(h->link, &kind, &data, &len)) {
		*ret_any = true;
		if (!fl_host_is_over(h))
			OT_TRY(take(h, kind, data, len));
	}
	return NULL;
}

/* Until a poll, which acknowledges what was taken, has brought nothing more; a host that never stops is one
 * of several. *ret_broken: the link has failed, which is the error if nothing else is. */
static struct ot_err *pump(struct fl_host *h, struct ot_err **ret_broken)
{
	bool any = true;

	*ret_broken = NULL;
	for (unsigned i = 0; i < ROUNDS && h->link && any && !*ret_broken; i++) {
		*ret_broken = fl_link_poll(h->link);
		struct ot_err *err = take_all(h, &any);
		if (err)
			return err;
	}
	return NULL;
}

struct ot_err *fl_host_pump_strictly(struct fl_host *h)
{
	struct ot_err *broken, *err = pump(h, &broken);

	if (!err && broken && ot_err_code(broken) == OT_ERR_OS) {
		err = ot_err_new(OT_ERR_NOT_FOUND, "outsight-serve has not answered: %s",
				 ot_err_message(broken));
		ot_err_destroy(broken);
		return err;
	}
	if (!err)
		return broken ? broken : fl_host_watch(h);
	ot_err_destroy(broken);
	return err;
}

/* Is it the host's doing? */
static bool is_its_fault(const struct ot_err *err)
{
	switch (ot_err_code(err)) {
	case OT_ERR_BAD_DATA:
	case OT_ERR_LIMIT:
	case OT_ERR_SYNTAX:
	case OT_ERR_UNSUPPORTED:
	case OT_ERR_NOT_FOUND:
	case OT_ERR_PERMISSION:
	case OT_ERR_GUEST_GONE:
		return true;
	default:
		return false;
	}
}

/* One that was asked for a guest, and has not got it, is one less that may have it. */
static bool is_dispensable(const struct fl_host *h)
{
	return h->follows && h->state < FL_HOST_RUNNING;
}

static void lose(struct fl_host *h, const char *why)
{
	if (!is_dispensable(h)) {
		fl_host_lose(h, why);
		return;
	}
	if (!h->stopped_ns)
		fl_host_say(h, why);
	h->state = FL_HOST_ENDED;
	h->ended_ns = ot_now_ns();
	unlink_host(h);
}

static struct ot_err *lose_for(struct fl_host *h, struct ot_err *err)
{
	lose(h, ot_err_message(err));
	ot_err_destroy(err);
	return NULL;
}

/* Nothing has come for as long as a lease. */
static bool is_silent(const struct fl_host *h)
{
	return h->link && fl_link_silence_ns(h->link) > FL_LEASE_NS;
}

struct ot_err *fl_host_pump(struct fl_host *h)
{
	struct ot_err *broken, *err = pump(h, &broken);

	if (err) {
		ot_err_destroy(broken);
		return is_its_fault(err) ? lose_for(h, err) : err;
	}
	if (broken && h->state == FL_HOST_ENDED) {
		ot_err_destroy(broken);
		unlink_host(h);
		return NULL;
	}
	if (broken)
		return lose_for(h, broken);
	if (!fl_host_is_over(h) && is_silent(h))
		lose(h, "nothing was heard for 10 s");
	return fl_host_watch(h);
}
