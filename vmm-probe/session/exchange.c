/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exchanging the halves of all engines, and polling their state. All are asked, then their answers are taken
 * as they come: an engine that is slow, or whose VMM is stopped, delays only its own data. One that
 * has not answered is not asked again; its answer is taken whenever it comes.
 *
 *   ask all ──► the host engine's ──► answers, PATIENCE_NS at most ──► records of the time that all have
 * covered later ones: vp_exchange_late()
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/units.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/user_seen.h"

#define PATIENCE_NS 100000000ull /* limit of one turn: an idle engine takes a thousandth of that */
#define SILENT_NS   (5 * OT_NS_PER_SEC)
#define LAST_NS     (30 * OT_NS_PER_SEC) /* for the data at a session's end */

/* --- one engine ------------------------------------------------------------------------------------- */

static struct ot_err *report_overload(struct vp_session *s, struct vp_feed *feed,
				      const struct vp_overload *overload)
{
	struct vp_overload_info info = {
		.ecb = vp_enabled_of(s, feed, overload->epid),
		.taken = overload->taken,
		.percent = overload->percent,
		.limit = feed->open.maxcost,
	};

	if (!info.taken)
		return NULL;
	if (info.ecb)
		return s->sink.overload(s->sink.arg, &info);
	vp_feed_damaged(s, feed);
	return NULL;
}

/* What an engine has answered; @take: after an exchange. */
static struct ot_err *take_reply(struct vp_session *s, struct vp_feed *feed,
				 const struct vp_msg_switch_reply *reply, bool take)
{
	feed->agent.gone = reply->flags & VP_SWITCH_AGENT_GONE;
	if (reply->agent_bound_ns)
		feed->agent.clock =
		    (struct vp_clock_mark){ reply->agent_tsc, reply->agent_ns, reply->agent_bound_ns };
	if (reply->flags & VP_SWITCH_FILLED)
		s->end.exited = true; /* the fill policy ends a session as exit(0) does */
	feed->patching = reply->patching;
	OT_TRY(report_overload(s, feed, &reply->overload));
	if (!take)
		return NULL;
	feed->asked.covered_ns = reply->now_ns;
	return vp_feed_read(s, feed);
}

static struct ot_err *drain_host(struct vp_session *s, bool take)
{
	struct vp_msg_switch_reply reply = { 0 };

	if (!s->feeds[0].opened)
		return NULL;
	OT_TRY((take ? vp_engine_session_switch : vp_engine_session_poll)(s->host.es, &reply));
	return take_reply(s, &s->feeds[0], &reply, take);
}

static struct ot_err *ask(struct vp_session *s, struct vp_feed *feed, bool take)
{
	struct vp_feed_asked *a = &feed->asked;

	if (!feed->opened || feed->gone || a->waiting || a->busy)
		return NULL;
	OT_TRY(vp_note_gone(s, feed, vp_client_ask(&feed->link->client, take)));
	if (feed->gone)
		return NULL;
	a->waiting = true;
	a->take = take;
	a->since_ns = ot_now_ns();
	return NULL;
}

static void say_silence(struct vp_session *s, struct vp_feed *feed, bool silent)
{
	char text[VP_GUEST_NAME + 160];

	feed->asked.silent = silent;
	if (silent)
		snprintf(text, sizeof(text),
			 "guest %s does not answer (PID %u: is its VMM stopped?): its data waits for it%s",
			 feed->link->client.guest_name, feed->link->client.pid,
			 s->apart ? ", the others' does not" : "");
	else
		snprintf(text, sizeof(text), "guest %s answers again", feed->link->client.guest_name);
	vp_session_say(s, text);
}

static struct ot_err *take_answer(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_msg_switch_reply reply = { 0 };
	bool take = feed->asked.take;

	feed->asked.waiting = false;
	OT_TRY(vp_note_gone(s, feed, vp_client_answered(&feed->link->client, &reply)));
	if (feed->gone)
		return NULL;
	if (feed->asked.silent)
		say_silence(s, feed, false);
	return take_reply(s, feed, &reply, take);
}

/* --- all of them -------------------------------------------------------------------------------------- */

/* Take the answers that are there, after waiting until @until for one; *ret_left: others are outstanding. */
static struct ot_err *take_some(struct vp_session *s, uint64_t until, bool *ret_left)
{
	struct pollfd fds[VP_GUESTS_MAX];
	uint32_t of[VP_GUESTS_MAX];
	nfds_t n = 0;

	for (uint32_t i = 1; i < s->nfeeds; i++)
		if (s->feeds[i].asked.waiting && !s->feeds[i].gone) {
			fds[n] = (struct pollfd){ .fd = s->feeds[i].link->client.sock, .events = POLLIN };
			of[n++] = i;
		}
	*ret_left = n > 0;
	int ready = n ? poll(fds, n, ot_ms_until(until)) : 0;
	if (ready < 0 && errno != EINTR)
		return ot_err_os(errno, "poll");
	for (nfds_t i = 0; ready > 0 && i < n; i++)
		if (fds[i].revents)
			OT_TRY(take_answer(s, &s->feeds[of[i]]));
	return NULL;
}

/* Is there an answer that may come soon? */
static bool is_worth_it(const struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++)
		if (s->feeds[i].asked.waiting && !s->feeds[i].gone && !s->feeds[i].asked.silent)
			return true;
	return false;
}

static struct ot_err *take_answers(struct vp_session *s, uint64_t until)
{
	bool left = true;

	while (left && is_worth_it(s) && ot_now_ns() < until)
		OT_TRY(take_some(s, until, &left));
	return left ? take_some(s, 0, &left) : NULL;
}

/* Engines that have not answered are removed, and their buffers are read. */
static struct ot_err *leave_silent(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (!feed->asked.waiting || feed->gone)
			continue;
		if (!feed->asked.silent)
			say_silence(s, feed, true);
		vp_note_broken(s, feed, "its engine does not answer");
	}
	return NULL;
}

struct ot_err *vp_exchange_settle(struct vp_session *s)
{
	OT_TRY(take_answers(s, ot_now_ns() + LAST_NS));
	return leave_silent(s);
}

struct ot_err *vp_exchange_late(struct vp_session *s)
{
	uint64_t now = ot_now_ns();
	bool left;

	OT_TRY(take_some(s, 0, &left));
	for (uint32_t i = 1; left && i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (feed->asked.waiting && !feed->gone && !feed->asked.silent &&
		    now - feed->asked.since_ns > SILENT_NS)
			say_silence(s, feed, true);
	}
	return NULL;
}

/* The buffers of guests whose connections broke. */
static struct ot_err *read_gone(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (feed->opened && feed->gone && !feed->read_out)
			OT_TRY(vp_feed_read(s, feed));
	}
	return NULL;
}

/* The time up to which all have delivered their records, except those that were given up for now. */
static uint64_t covered(const struct vp_session *s)
{
	uint64_t until = UINT64_MAX;

	for (uint32_t i = 0; i < s->nfeeds; i++) {
		const struct vp_feed *feed = &s->feeds[i];

		if (feed->opened && !feed->gone && !feed->asked.silent && feed->asked.covered_ns < until)
			until = feed->asked.covered_ns;
	}
	return until;
}

struct ot_err *vp_drain(struct vp_session *s, unsigned what)
{
	bool take = what & VP_DRAIN_TAKE;

	for (uint32_t i = 0; what & VP_DRAIN_STATUS && i < s->nfeeds; i++)
		OT_TRY(vp_feed_report(s, &s->feeds[i]));
	vp_user_seen_round(s);
	if (what & VP_DRAIN_WAIT) /* the last answer may not be of the exchange that is wanted now */
		OT_TRY(vp_exchange_settle(s));
	for (uint32_t i = 1; i < s->nfeeds; i++)
		OT_TRY(ask(s, &s->feeds[i], take));
	OT_TRY(drain_host(s, take));
	OT_TRY(what & VP_DRAIN_WAIT ? vp_exchange_settle(s) : take_answers(s, ot_now_ns() + PATIENCE_NS));
	if (take)
		OT_TRY(read_gone(s));
	if (!(what & VP_DRAIN_GIVE))
		return NULL;
	return vp_pending_give(s, what & VP_DRAIN_ALL ? UINT64_MAX : covered(s));
}

struct ot_err *vp_drain_ended(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_msg_switch_reply reply = { 0 };

	if (!feed->opened || feed->read_out)
		return NULL;
	if (!feed->gone)
		OT_TRY(vp_note_gone(s, feed, vp_client_switch(&feed->link->client, &reply)));
	return feed->gone ? vp_feed_read(s, feed) : take_reply(s, feed, &reply, true);
}
