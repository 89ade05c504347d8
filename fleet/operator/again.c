/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Restarts the hosts of a lost merger with another one, or with this process itself. The old sessions end by
 * themselves: a merger that still runs stops its hosts when it has received nothing from this side for a
 * lease, and hosts end when they have received nothing from a dead one for as long. So the hosts are invited
 * again a little more than a lease after the merger was last heard. If a merger is cut off and then dies, its
 * hosts may be traced twice for some seconds, but are counted once: no data of the old session arrives here.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/clock.h"
#include "base/units.h"
#include "fleet/operator/nats.h"

#define ANSWER_NS 4000000000ull
#define ATTEMPTS  3u

struct fl_again {
	struct fl_host *h;
	struct fl_host *merger; /* NULL: directly */
	uint64_t at_ns;         /* when it is invited, or invited again if it does not answer */
	uint64_t until_ns;      /* deadline of its start; 0: it was not invited */
	unsigned attempts;
};

/* --- where to --------------------------------------------------------------------------------------------- */

/* The merger with the most room; NULL: none has any. */
static struct fl_host *find_merger(const struct fl_fleet *fleet)
{
	struct fl_host *best = NULL;
	uint32_t most = 0;

	for (uint32_t i = 0; i < fleet->nlinked; i++) {
		struct fl_host *m = fleet->linked[i];
		const uint32_t room = m->merger ? fl_merger_room(m) : 0;

		if (room > most) {
			most = room;
			best = m;
		}
	}
	return best;
}

static bool may_go_directly(const struct fl_fleet *fleet)
{
	return fleet->calling && fleet->calling->broker && fleet->restarts.ndirect < FL_DIRECT_MAX;
}

/* False: there is no room anywhere. */
static bool choose(struct fl_fleet *fleet, struct fl_host **ret)
{
	*ret = find_merger(fleet);
	if (!*ret && !may_go_directly(fleet))
		return false;
	if (*ret)
		fl_merger_reserve(*ret, true);
	else
		fleet->restarts.ndirect++;
	return true;
}

/* --- a merger is lost --------------------------------------------------------------------------------------- */

/* The outcome for its hosts. */
struct outcome {
	uint32_t moved, direct, lost;
	const struct fl_host *to[FL_MERGERS_MAX];
	uint32_t nto[FL_MERGERS_MAX], n;
};

static void note(struct outcome *o, const struct fl_host *merger)
{
	uint32_t i = 0;

	while (i < o->n && o->to[i] != merger)
		i++;
	o->to[i] = merger;
	o->nto[i] = i < o->n ? o->nto[i] + 1 : 1;
	o->n += i == o->n;
	o->moved++;
}

/* A new entry of the table, because data of the old one still refers to its names. */
static struct ot_err *begin_anew(struct fl_host *old, struct fl_host *merger)
{
	struct fl_fleet *fleet = old->fleet;
	struct fl_host *h;

	if (!ot_grow(&fleet->restarts.list, &fleet->restarts.cap, fleet->restarts.n + 1,
		     sizeof(*fleet->restarts.list)))
		return ot_err_nomem();
	OT_TRY(fl_host_create(fleet, old->name, old->spec, &h));
	OT_TRY(fl_host_of(h, old->invited));
	h->is_again = true;
	h->heard_ns = old->heard_ns;
	fleet->restarts.list[fleet->restarts.n++] =
	    (struct fl_again){ .h = h, .merger = merger, .at_ns = ot_now_ns() + fleet->restarts.wait_ns };
	fl_host_end(old, FL_HOST_LEFT_OUT);
	fl_host_disconnect(old);
	return NULL;
}

static void move(struct fl_host *old, struct outcome *o)
{
	struct fl_host *to = NULL;
	bool may = !old->fleet->is_stopping && old->fleet->calling && choose(old->fleet, &to);
	struct ot_err *err = may ? begin_anew(old, to) : NULL;

	if (!may || err) { /* one message reports all of them */
		fl_host_end(old, FL_HOST_LOST);
		fl_host_disconnect(old);
		o->lost++;
	} else if (to) {
		note(o, to);
	} else {
		o->direct++;
	}
	ot_err_destroy(err);
}

static void put_outcome(const struct outcome *o, struct ot_buf *out)
{
	const uint32_t all = o->moved + o->direct + o->lost;

	if (o->n == 1 && o->moved == all) {
		ot_buf_printf(out, ": its %u host%s to %s", all, all == 1 ? " goes" : "s go", o->to[0]->name);
		return;
	}
	ot_buf_printf(out, ": of its %u hosts", all);
	for (uint32_t i = 0; i < o->n; i++)
		ot_buf_printf(out, "%s %u go to %s", i ? "," : "", o->nto[i], o->to[i]->name);
	if (o->direct)
		ot_buf_printf(out, "%s %u are asked directly", o->n ? "," : "", o->direct);
	if (o->lost)
		ot_buf_printf(out, "%s %u are lost", o->n || o->direct ? "," : "", o->lost);
}

/* Counts from before its last sums took at most the time between two sums to arrive. */
static void put_since(const struct fl_host *merger, struct ot_buf *out)
{
	const uint64_t now = ot_now_ns(), summed = fl_merger_summed_ns(merger);
	const uint64_t ago = (now - summed + merger->fleet->config.opts->aggrate_ns) / OT_NS_PER_SEC + 2;
	time_t since = time(NULL) - (time_t)ago;
	struct tm tm;
	char text[16] = "?";

	if (localtime_r(&since, &tm))
		strftime(text, sizeof(text), "%H:%M:%S", &tm);
	ot_buf_printf(out, "; what they counted since %s may be missing", text);
}

void fl_merger_lost(struct fl_host *merger, const char *why)
{
	struct fl_fleet *fleet = merger->fleet;
	struct outcome o = { 0 };
	struct ot_buf text;
	struct fl_host *h;

	while ((h = fl_merger_next_orphan(merger)))
		move(h, &o);
	ot_buf_init(&text);
	ot_buf_printf(&text, "merger %s is lost", merger->name);
	if (o.moved + o.direct + o.lost) {
		fleet->restarts.nuncertain++;
		put_outcome(&o, &text);
		put_since(merger, &text);
	}
	fl_fleet_say(fleet, ot_buf_str(&text), why);
	ot_buf_deinit(&text);
}

/* --- asking them -------------------------------------------------------------------------------------------- */

static struct ot_err *watch_answers(struct fl_fleet *fleet)
{
	/* not of a host: it only wakes */
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = UINT32_MAX };

	if (fleet->restarts.has_answers)
		return NULL;
	if (epoll_ctl(fleet->set, EPOLL_CTL_ADD, fl_inbox_fd(fleet->calling->answers), &ev) < 0)
		return ot_err_os(errno, "epoll");
	fleet->restarts.has_answers = true;
	return NULL;
}

static struct ot_err *ask_directly(struct fl_again *a)
{
	struct fl_fleet *fleet = a->h->fleet;

	if (a->attempts++ == ATTEMPTS) {
		fl_host_lose(a->h, "it does not answer");
		return NULL;
	}
	a->h->invited->accepted = false;
	a->at_ns = ot_now_ns() + ANSWER_NS;
	OT_TRY(watch_answers(fleet));
	return fl_nats_invite_one(fleet->calling, a->h->invited);
}

static struct ot_err *ask(struct fl_again *a)
{
	const uint64_t now = ot_now_ns();

	/* that merger may be lost by now, too */
	if (a->merger && fl_host_is_over(a->merger) && !choose(a->h->fleet, &a->merger)) {
		fl_host_lose(a->h, "no merger has room for it");
		return NULL;
	}
	if (!a->until_ns)
		a->until_ns = now + FL_PREPARE_NS;
	if (!a->merger)
		return ask_directly(a);
	a->at_ns = UINT64_MAX;
	fl_merger_reserve(a->merger, false);
	OT_TRY(fl_merger_add(a->merger, a->h));
	return fl_merger_ask(a->merger);
}

static struct fl_again *entry_of(const struct fl_fleet *fleet, const struct fl_invited *invited)
{
	for (size_t i = 0; i < fleet->restarts.n; i++)
		if (fleet->restarts.list[i].h->invited == invited && !fleet->restarts.list[i].merger)
			return &fleet->restarts.list[i];
	return NULL;
}

static struct ot_err *take_answer(struct fl_fleet *fleet, const struct fl_broker_message *m)
{
	struct fl_invited *invited;
	struct fl_channel *channel;
	struct ot_err *err = fl_nats_take_answer(fleet->calling, m, &invited);
	struct fl_again *a = invited ? entry_of(fleet, invited) : NULL;

	if (!a || fl_host_is_over(a->h) || a->h->state != FL_HOST_WAITING) {
		ot_err_destroy(err);
		return NULL;
	}
	if (!err)
		err = fl_nats_open(invited, &channel);
	if (err) {
		fl_host_lose(a->h, ot_err_message(err));
		ot_err_destroy(err);
		return NULL;
	}
	a->at_ns = UINT64_MAX;
	return fl_host_connect(a->h, channel);
}

static struct ot_err *take_answers(struct fl_fleet *fleet)
{
	struct fl_broker_message m;

	if (!fleet->restarts.has_answers)
		return NULL;
	while (fl_inbox_next(fleet->calling->answers, &m))
		OT_TRY(take_answer(fleet, &m));
	return NULL;
}

static bool has_begun(const struct fl_again *a)
{
	return a->h->state >= FL_HOST_RUNNING;
}

struct ot_err *fl_fleet_go_on_again(struct fl_fleet *fleet)
{
	const uint64_t now = ot_now_ns();

	OT_TRY(take_answers(fleet));
	for (size_t i = fleet->restarts.n; i-- > 0;) {
		struct fl_again *a = &fleet->restarts.list[i];

		if (!has_begun(a) && now >= a->at_ns)
			OT_TRY(ask(a));
		else if (!has_begun(a) && a->until_ns && now >= a->until_ns)
			fl_host_lose(a->h, "it has not restarted within half a minute");
		a = &fleet->restarts.list[i]; /* a merger that was lost meanwhile may have made it longer */
		if (has_begun(a))
			*a = fleet->restarts.list[--fleet->restarts.n];
	}
	return NULL;
}

uint64_t fl_fleet_again_due_ns(const struct fl_fleet *fleet)
{
	uint64_t due = UINT64_MAX;

	for (size_t i = 0; i < fleet->restarts.n; i++) {
		const struct fl_again *a = &fleet->restarts.list[i];
		const uint64_t until = a->until_ns ? a->until_ns : UINT64_MAX;

		due = a->at_ns < due ? a->at_ns : due;
		due = until < due ? until : due;
	}
	return due;
}

struct ot_err *fl_fleet_end_again(struct fl_fleet *fleet)
{
	for (size_t i = 0; i < fleet->restarts.n; i++)
		if (!fl_host_is_over(fleet->restarts.list[i].h) &&
		    fleet->restarts.list[i].h->state < FL_HOST_STARTING)
			fl_host_lose(fleet->restarts.list[i].h, "it did not restart");
	fleet->restarts.n = 0;
	return NULL;
}
