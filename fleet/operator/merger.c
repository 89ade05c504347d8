/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A merger, which collects from up to FL_MEMBERS_MAX hosts. It is in the table of hosts for its own data, the
 * sums, and delivers its members' messages.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/operator/nats.h"

/* Maximum bytes of MEMBER that wait for one merger: a program may be large, and mergers many. */
#define ASKED_MAX (4u << 20)

struct fl_merger {
	uint8_t ephemeral[FL_MEMBER_KEY];
	struct fl_host *members[FL_MEMBERS_MAX]; /* by number; NULL: it has left */
	uint32_t nmembers, nasked;               /* assigned numbers; numbers whose MEMBER was sent */
	uint32_t reserved;
	uint64_t summed_ns; /* when AGGREGATES was last received */
};

struct ot_err *fl_merger_create(struct fl_host *h, const uint8_t ephemeral[FL_MEMBER_KEY])
{
	h->merger = calloc(1, sizeof(*h->merger));
	if (!h->merger)
		return ot_err_nomem();
	memcpy(h->merger->ephemeral, ephemeral, FL_MEMBER_KEY);
	h->fleet->nliving--; /* it is not one of the hosts */
	return NULL;
}

void fl_merger_destroy(struct fl_merger *m)
{
	free(m);
}

/* --- a member's channel --------------------------------------------------------------------------------- */

struct member {
	struct fl_channel base;
	struct fl_host *merger;
	uint32_t number;
};

static struct ot_err *op_send(struct fl_channel *base, enum fl_kind kind, const void *data, size_t len)
{
	const struct member *c = (const struct member *)base;
	struct ot_buf body;

	if (!c->merger->channel)
		return NULL;
	ot_buf_init(&body);
	fl_put_of(&body, &(struct fl_of){ c->number, kind, { data, (uint32_t)len } });
	struct ot_err *err = fl_host_send(c->merger, FL_OF, &body);
	ot_buf_deinit(&body);
	return err;
}

static size_t op_pending(const struct fl_channel *base)
{
	const struct fl_channel *link = ((const struct member *)base)->merger->channel;

	return link ? link->ops->pending(link) : 0;
}

/* An end on this side also ends it there. */
static void op_destroy(struct fl_channel *base)
{
	struct member *c = (struct member *)base;
	struct fl_host *h = c->merger->merger->members[c->number];

	c->merger->merger->members[c->number] = NULL;
	if (h && h->state != FL_HOST_ENDED && c->number < c->merger->merger->nasked)
		ot_err_destroy(op_send(base, FL_STOP, NULL, 0));
	free(c);
}

static const struct fl_channel_ops ops = {
	.send = op_send,
	.pending = op_pending,
	.destroy = op_destroy,
};

uint32_t fl_merger_room(const struct fl_host *merger)
{
	const struct fl_merger *m = merger->merger;

	return fl_host_is_over(merger) ? 0 : FL_MEMBERS_MAX - m->nmembers - m->reserved;
}

void fl_merger_reserve(struct fl_host *merger, bool reserve)
{
	if (reserve)
		merger->merger->reserved++;
	else
		merger->merger->reserved--;
}

struct ot_err *fl_merger_add(struct fl_host *merger, struct fl_host *h)
{
	struct fl_merger *m = merger->merger;
	struct member *c = calloc(1, sizeof(*c));

	if (!c)
		return ot_err_nomem();
	*c = (struct member){ { &ops }, merger, m->nmembers };
	m->members[m->nmembers++] = h;
	return fl_host_connect(h, &c->base);
}

struct fl_host *fl_merger_next_orphan(struct fl_host *merger)
{
	struct fl_merger *m = merger->merger;

	for (uint32_t i = 0; i < m->nmembers; i++) {
		struct fl_host *h = m->members[i];

		m->members[i] = NULL;
		if (h && !fl_host_is_over(h))
			return h;
	}
	return NULL;
}

uint64_t fl_merger_summed_ns(const struct fl_host *merger)
{
	return merger->merger->summed_ns;
}

/* --- what it is asked ------------------------------------------------------------------------------------- */

static struct ot_err *send_member(struct fl_host *merger, uint32_t number)
{
	struct fl_merger *m = merger->merger;
	struct ot_buf body;

	if (!m->members[number])
		return NULL;
	ot_buf_init(&body);
	struct ot_err *err = fl_calling_member(merger->fleet->calling, m->members[number]->invited, number,
					       m->ephemeral, &body);
	if (!err)
		err = fl_host_send(merger, FL_MEMBER, &body);
	ot_buf_deinit(&body);
	return err;
}

struct ot_err *fl_merger_ask(struct fl_host *merger)
{
	struct fl_merger *m = merger->merger;

	if (merger->state < FL_HOST_READY || fl_host_is_over(merger))
		return NULL;
	while (m->nasked < m->nmembers && merger->channel->ops->pending(merger->channel) < ASKED_MAX)
		OT_TRY(send_member(merger, m->nasked++));
	return NULL;
}

struct ot_err *fl_merger_begin(struct fl_host *merger)
{
	const struct dif_options *o = merger->fleet->config.opts;
	struct ot_buf dof, body;

	ot_buf_init(&dof);
	ot_buf_init(&body);
	struct ot_err *err = dif_dof_write(merger->fleet->prog, &dof);
	if (!err) {
		fl_put_program(&body, &(struct fl_program){
					  .dof = { (const uint8_t *)dof.data, (uint32_t)dof.len },
					  .strsize = o->strsize,
					  .stackframes = o->stackframes,
					  .ustackframes = o->ustackframes,
					  .jstackframes = o->jstackframes,
					  .jstackstrsize = o->jstackstrsize,
				      });
		err = fl_host_send(merger, FL_PROGRAM, &body);
	}
	ot_buf_deinit(&dof);
	ot_buf_deinit(&body);
	merger->merger->summed_ns = ot_now_ns();
	if (!err)
		merger->state = FL_HOST_RUNNING;
	return err;
}

/* --- what it says ----------------------------------------------------------------------------------------- */

/* *ret NULL: it has left. */
static struct ot_err *member_of(const struct fl_host *merger, uint32_t number, struct fl_host **ret)
{
	const struct fl_merger *m = merger->merger;

	if (number >= m->nasked)
		return ot_err_new(OT_ERR_BAD_DATA, "an unknown member");
	*ret = m->members[number];
	return NULL;
}

static struct ot_err *on_of(struct fl_host *merger, const void *data, size_t len)
{
	struct fl_host *h;
	struct fl_of m;

	OT_TRY(fl_get_of(data, len, NULL, &m));
	OT_TRY(member_of(merger, m.member, &h));
	return h ? fl_host_hand(h, (enum fl_kind)m.kind, m.body.data, m.body.len) : NULL;
}

/* Before the program runs this is the same as a host that does not answer. */
static void gone_before(struct fl_host *h, const char *why)
{
	const struct fl_nats_config *nats = h->fleet->config.nats;

	if (nats && nats->without_silent) {
		fl_host_say(h, why);
		fl_host_end(h, FL_HOST_LEFT_OUT);
		fl_host_disconnect(h);
	} else {
		fl_host_refuse(h,
			       ot_err_new(OT_ERR_NOT_FOUND, "%s: -x hostloss=ok continues without it", why));
	}
}

static struct ot_err *on_gone(struct fl_host *merger, const void *data, size_t len, struct ot_arena *arena)
{
	const uint64_t now = ot_now_ns();
	struct fl_host *h;
	struct fl_gone m;

	OT_TRY(fl_get_gone(data, len, arena, &m));
	OT_TRY(member_of(merger, m.member, &h));
	if (!h || fl_host_is_over(h))
		return NULL;
	if (m.silent_ns < now)
		h->heard_ns = now - m.silent_ns;
	if (merger->fleet->is_strict)
		gone_before(h, *m.text ? m.text : "it has gone");
	else
		fl_host_lose(h, m.text);
	return NULL;
}

/* It ends by itself only if it must. */
static struct ot_err *on_ended(struct fl_host *merger, const void *data, size_t len, struct ot_arena *arena)
{
	struct fl_ended m;

	OT_TRY(fl_get_ended(data, len, arena, &m));
	if (!merger->stopped_ns)
		return ot_err_new(OT_ERR_GUEST_GONE, "it has ended: %s",
				  *m.text ? m.text : "the reason is unknown");
	fl_host_end(merger, FL_HOST_ENDED);
	return NULL;
}

static enum fl_host_state first_state(enum fl_kind kind)
{
	switch ((unsigned)kind) {
	case FL_HELLO:
	case FL_REFUSED:
		return FL_HOST_GREETED;
	case FL_OF:
	case FL_GONE:
	case FL_GUEST:
	case FL_SAY:
	case FL_ENDED:
		return FL_HOST_READY;
	case FL_PROGRAM:
	case FL_ENABLED:
	case FL_NAMES:
	case FL_AGGREGATES:
	case FL_DROPS:
		return FL_HOST_RUNNING;
	default:
		return FL_HOST_LOST;
	}
}

static struct ot_err *dispatch(struct fl_host *merger, enum fl_kind kind, const void *data, size_t len,
			       struct ot_arena *arena)
{
	switch ((unsigned)kind) {
	case FL_HELLO:
		OT_TRY(fl_host_take_hello(merger, data, len));
		merger->state = FL_HOST_READY;
		return fl_merger_ask(merger);
	case FL_REFUSED:
		return fl_host_take_refused(data, len);
	case FL_OF:
		return on_of(merger, data, len);
	case FL_GONE:
		return on_gone(merger, data, len, arena);
	case FL_GUEST:
		return fl_host_take_guest(merger, data, len);
	case FL_SAY:
		return fl_host_take_say(merger, data, len);
	case FL_ENDED:
		return on_ended(merger, data, len, arena);
	case FL_PROGRAM:
		return fl_host_take_program(merger, data, len);
	case FL_ENABLED:
		return fl_host_take_enabled(merger, data, len);
	case FL_NAMES:
		return fl_host_take_names(merger, data, len);
	case FL_AGGREGATES:
		merger->merger->summed_ns = ot_now_ns();
		return fl_host_take_data(merger, kind, data, len);
	default:
		return fl_host_take_data(merger, kind, data, len);
	}
}

struct ot_err *fl_merger_take(struct fl_host *merger, enum fl_kind kind, const void *data, size_t len)
{
	struct ot_arena arena;

	if (merger->state < first_state(kind) || (kind == FL_HELLO && merger->state > FL_HOST_GREETED))
		return ot_err_new(OT_ERR_BAD_DATA, "%s out of order", fl_kind_name(kind));
	ot_arena_init(&arena);
	struct ot_err *err = dispatch(merger, kind, data, len, &arena);
	ot_arena_deinit(&arena);
	return err;
}
