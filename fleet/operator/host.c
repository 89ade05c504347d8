/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The states of one host: the messages that are valid in each, and its end. */
#include <string.h>

#include "base/clock.h"
#include "fleet/operator/follow.h"
#include "fleet/operator/merger.h"

#define ROUNDS 64 /* maximum polls until other hosts have their turn */

/* --- messages ------------------------------------------------------------------------------------------- */

static struct ot_err *put_run(const struct fl_host *h, struct ot_buf *out)
{
	const struct fl_tap *tap = h->fleet->tap;

	return tap ? tap->run(tap->arg, h, out) : fl_run_put(h->fleet, ot_buf_str(&h->guests), out);
}

struct ot_err *fl_host_take_hello(struct fl_host *h, const void *data, size_t len)
{
	struct fl_hello hello;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = fl_get_hello(data, len, &arena, &hello);
	ot_arena_deinit(&arena);
	if (err)
		return err;
	if (hello.protocol != FL_PROTOCOL)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "its outsight-serve speaks protocol %u, this outsight %u: install one release "
		    "on both",
		    hello.protocol, FL_PROTOCOL);
	fl_host_take_clock(h, &hello.clock);
	return NULL;
}

/* A merger's member was asked by MEMBER. */
static struct ot_err *on_hello(struct fl_host *h, const void *data, size_t len)
{
	struct ot_buf body;

	OT_TRY(fl_host_take_hello(h, data, len));
	h->state = FL_HOST_ASKED;
	if (!fl_channel_is_link(h->channel))
		return NULL;
	ot_buf_init(&body);
	struct ot_err *err = put_run(h, &body);
	if (!err)
		err = fl_host_send(h, FL_RUN, &body);
	ot_buf_deinit(&body);
	return err;
}

/* As an error of this side: the host has printed nothing. */
static struct ot_err *refusal(const struct fl_refused *m, struct ot_arena *arena)
{
	char *text = ot_arena_strdup(arena, m->text);

	if (!text)
		return ot_err_nomem();
	fl_tame_lines(text);
	for (size_t n = strlen(text); n && text[n - 1] == '\n';)
		text[--n] = '\0';
	return ot_err_new(m->reason == FL_REASON_PROGRAM ? OT_ERR_SYNTAX
			  : m->reason == FL_REASON_GUEST ? OT_ERR_NOT_FOUND
							 : OT_ERR_PERMISSION,
			  "%s", *text ? text : "refused");
}

struct ot_err *fl_host_take_refused(const void *data, size_t len)
{
	struct fl_refused m;
	struct ot_arena arena;

	ot_arena_init(&arena);
	struct ot_err *err = fl_get_refused(data, len, &arena, &m);
	if (!err)
		err = refusal(&m, &arena);
	ot_arena_deinit(&arena);
	return err;
}

static struct ot_err *on_ready(struct fl_host *h, const void *data, size_t len, struct ot_arena *arena)
{
	OT_TRY(fl_get_ready(data, len, arena, &h->ready));
	h->state = FL_HOST_READY;
	/* a host that arrives late starts by itself */
	return h->fleet->is_started ? fl_host_begin(h) : NULL;
}

static struct ot_err *on_ended(struct fl_host *h, const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_ended m;

	OT_TRY(fl_get_ended(data, len, arena, &m));
	if (h->state < FL_HOST_STARTING && !(h->follows && h->stopped_ns))
		return ot_err_new(OT_ERR_GUEST_GONE, "it has ended: %s",
				  *m.text ? m.text : "the reason is unknown");
	fl_host_end(h, FL_HOST_ENDED);
	h->has_moved = m.failed && fl_follow_explains(h, m.text);
	h->failed = m.failed && !h->has_moved;
	if (m.exited && !h->fleet->exited) {
		h->fleet->exited = true;
		h->fleet->status = m.status & 0xff;
	}
	if (h->failed)
		fl_host_say(h, *m.text ? m.text : "the session there has failed");
	return fl_room_tell(h, UINT64_MAX);
}

/* The first and the last state in which a message is valid. */
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
		return on_hello(h, data, len);
	case FL_REFUSED:
		return fl_host_take_refused(data, len);
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

/* A refusal is an error, too. */
static struct ot_err *pass_on(struct fl_host *h, enum fl_kind kind, const void *data, size_t len,
			      struct ot_err *err)
{
	const struct fl_tap *tap = h->fleet->tap;
	const bool refused = err && kind == FL_REFUSED && ot_err_code(err) != OT_ERR_BAD_DATA;

	if (!tap || (err && !refused))
		return err;
	struct ot_err *other = tap->took(tap->arg, h, kind, data, len);

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
	if (h->merger)
		return fl_merger_take(h, kind, data, len);
	if (h->state < place.first || h->state > place.last)
		return ot_err_new(OT_ERR_BAD_DATA, "%s out of order", fl_kind_name(kind));
	ot_arena_init(&arena);
	struct ot_err *err = pass_on(h, kind, data, len, dispatch(h, kind, data, len, &arena));
	ot_arena_deinit(&arena);
	return err;
}

/* --- what is wrong with it -------------------------------------------------------------------------------- */

/* Is it the host's fault? */
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

/* Its loss is not reported: the host was asked for a guest, and does not have it. */
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
	fl_host_end(h, FL_HOST_LEFT_OUT);
	fl_host_disconnect(h);
}

static struct ot_err *lose_for(struct fl_host *h, struct ot_err *err)
{
	lose(h, ot_err_message(err));
	ot_err_destroy(err);
	return NULL;
}

void fl_host_refuse(struct fl_host *h, struct ot_err *err)
{
	/* with a single host it is the error of a local session */
	if (h->fleet->nliving > 1 || ot_err_code(err) != OT_ERR_SYNTAX)
		err = ot_err_prefix(err, "host %s", h->name);
	if (h->fleet->refused)
		ot_err_destroy(err);
	else
		h->fleet->refused = err;
	fl_host_end(h, FL_HOST_LOST);
	fl_host_disconnect(h);
}

struct ot_err *fl_host_hand(struct fl_host *h, enum fl_kind kind, const void *data, size_t len)
{
	if (fl_host_is_over(h))
		return NULL;
	struct ot_err *err = take(h, kind, data, len);

	if (!err) {
		if (h->state == FL_HOST_ENDED)
			fl_host_disconnect(h);
		return NULL;
	}
	if (!is_its_fault(err))
		return err;
	if (!h->fleet->is_strict)
		return lose_for(h, err);
	fl_host_refuse(h, err);
	return NULL;
}

/* --- what has come -------------------------------------------------------------------------------------- */

static struct ot_err *take_all(struct fl_host *h, bool *ret_any)
{
	enum fl_kind kind;
	const void *data;
	size_t len;

	*ret_any = false;
	/* Messages of a host that ended are removed from the link, which would be due otherwise, and
	 * ignored. */
	while (h->channel && !h->fleet->held && h->channel->ops->receive(h->channel, &kind, &data, &len)) {
		*ret_any = true;
		if (!fl_host_is_over(h))
			OT_TRY(take(h, kind, data, len));
	}
	return NULL;
}

/* Poll until nothing more arrives, which also acknowledges the messages. A host that never stops must leave
 * turns to others. *ret_broken: the link failed, which is the error if nothing else is. */
static struct ot_err *pump(struct fl_host *h, struct ot_err **ret_broken)
{
	bool any = true;

	*ret_broken = NULL;
	for (unsigned i = 0; i < ROUNDS && h->channel && any && !*ret_broken; i++) {
		*ret_broken = h->channel->ops->poll(h->channel);
		struct ot_err *err = take_all(h, &any);
		if (!err && h->merger && h->channel) /* there may be room now */
			err = fl_merger_ask(h);
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

/* Nothing was received for a lease. */
static bool is_silent(const struct fl_host *h)
{
	return h->channel && h->channel->ops->silence_ns(h->channel) > FL_LEASE_NS;
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
		fl_host_disconnect(h);
		return NULL;
	}
	if (broken)
		return lose_for(h, broken);
	if (!fl_host_is_over(h) && is_silent(h))
		lose(h, "nothing was received for 10 s");
	return fl_host_watch(h);
}
