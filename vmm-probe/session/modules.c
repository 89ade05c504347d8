/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules that a guest loads and unloads during a session. The engine reports each (struct vp_msg_modules),
 * and the guest waits a moment while a new one is read here: the session's descriptions are matched against
 * its probes, and these are enabled as one more batch.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/contained.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/late.h"
#include "vmm-probe/session/modules.h"

#define READS_MAX 3u  /* while other vCPUs change the list */
#define TURNS_MAX 16u /* a guest that loads modules all the time is answered again at the next poll */

/* --- whether a session follows them ------------------------------------------------------------------ */

/* May a description mean a probe of a module that comes later? */
static bool may_match_module(const struct dif_probedesc *desc)
{
	static const struct vp_provider *const providers[] = { &vp_provider_fbt, &vp_provider_sdt,
							       &vp_provider_rawtp };

	if (desc->id || (desc->module && !strcmp(desc->module, "vmlinux")))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(providers); i++)
		if (!desc->provider || !*desc->provider || dif_glob_match(desc->provider, providers[i]->name))
			return true;
	return false;
}

static bool may_match_modules(const struct vp_session *s, const struct dif_program *prog, uint32_t guest)
{
	for (uint32_t i = 0; i < prog->nclauses; i++)
		if (vp_clause_wants_guest(s, &prog->clauses[i], guest) &&
		    may_match_module(&prog->clauses[i].probe))
			return true;
	return false;
}

static bool can_report(const struct vp_guest_link *link)
{
	return link->guest && vp_link_engine_is_away(link) && (link->needed_for || link->client.has_modules);
}

/* Debug registers are few, and a user who requests them wants the text unchanged. */
bool vp_modules_wanted(const struct vp_session *s, const struct dif_program *prog, uint32_t guest)
{
	return s->links.opts.trap != VP_WISH_HW && can_report(s->links.items[guest]) &&
	       may_match_modules(s, prog, guest);
}

void vp_modules_follow(struct vp_session *s, struct vp_feed *feed)
{
	feed->modules.followed = feed->link && vp_modules_wanted(s, s->program.prog, feed->guest);
	feed->has_work |= feed->modules.followed;
}

/* --- a module has come ---------------------------------------------------------------------------------- */

/* Only the vCPU that loads a module waits: the others may be changing the lists. */
static struct ot_err *update(struct vp_guest *guest)
{
	struct ot_err *err = vp_contained_modules_update(guest);

	for (unsigned i = 1; i < READS_MAX && err && ot_err_code(err) == OT_ERR_BAD_DATA; i++) {
		ot_err_destroy(err);
		err = vp_contained_modules_update(guest);
	}
	return err;
}

static struct ot_err *read_new(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_guest_link *link = feed->link;
	uint64_t since = vp_guest_arrivals(link->guest);
	uint32_t after = vp_probes_count(link->probes);

	OT_TRY(update(link->guest));
	if (vp_guest_arrivals(link->guest) == since)
		return NULL;
	OT_TRY(vp_probes_arrive(link->probes, since));
	return vp_late_enable(s, feed, after);
}

/* An error of the guest's bytes, or of a module that is gone again: the modules read until then are valid.
 * One of this process, or of the connection, is returned. */
static struct ot_err *pass_over(struct vp_session *s, struct vp_feed *feed, struct ot_err *err)
{
	char text[512];

	switch (err ? ot_err_code(err) : OT_ERR_GUEST_GONE) {
	case OT_ERR_NO_MEMORY:
	case OT_ERR_GUEST_GONE:
	case OT_ERR_OS:
		return err;
	case OT_ERR_LIMIT:
		snprintf(text, sizeof(text), "%s: modules that are loaded from now on are not traced: %s",
			 feed->link->client.guest_name, ot_err_message(err));
		vp_session_say(s, text);
		feed->modules.ended = true;
		break;
	case OT_ERR_BAD_DATA:
	case OT_ERR_UNSUPPORTED:
		snprintf(text, sizeof(text), "%s: a module's probes can't be enabled: %s",
			 feed->link->client.guest_name, ot_err_message(err));
		vp_session_say(s, text);
		break;
	case OT_ERR_BUSY: /* the lists kept changing: read again at the next poll */
		feed->modules.asked = false;
		break;
	default:
		break;
	}
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *take_late(struct vp_session *s, struct vp_feed *feed, uint32_t late)
{
	uint32_t more = late - feed->modules.late;

	feed->modules.late = late;
	return more ? s->sink.drop(s->sink.arg, VP_DROP_MODULES, 0, more) : NULL;
}

static void take_events(struct vp_feed *feed, const struct vp_msg_modules_reply *reply)
{
	for (uint32_t i = 0; i < reply->n; i++)
		if (reply->events[i].kind == VP_SENTINEL_MODULE_GOES)
			vp_guest_module_gone(feed->link->guest, vp_gva(reply->events[i].module));
}

static struct ot_err *poll_feed(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_msg_modules_reply reply;

	for (unsigned turn = 0; turn < TURNS_MAX; turn++) {
		OT_TRY(vp_client_modules(&feed->link->client, feed->modules.seen, &reply));
		take_events(feed, &reply);
		OT_TRY(take_late(s, feed, reply.late));
		if (reply.last <= feed->modules.seen && feed->modules.asked)
			return NULL;
		feed->modules.asked = true;
		feed->modules.seen = reply.last;
		if (!feed->modules.ended)
			OT_TRY(pass_over(s, feed, read_new(s, feed)));
		if (!feed->modules.asked)
			return NULL;
	}
	return NULL;
}

/* The engine's word in shared memory shows whether a request is needed. */
static bool has_news(const struct vp_feed *feed)
{
	return !feed->modules.asked ||
	       __atomic_load_n(&vp_feed_status(feed)->modules, __ATOMIC_ACQUIRE) > feed->modules.seen;
}

static struct ot_err *each_with_news(struct vp_session *s,
				     struct ot_err *(*answer)(struct vp_session *s, struct vp_feed *feed))
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (!feed->modules.followed || !vp_feed_can_ask(feed) || !has_news(feed))
			continue;
		OT_TRY(vp_note_gone(s, feed, answer(s, feed)));
	}
	return NULL;
}

struct ot_err *vp_modules_poll(struct vp_session *s)
{
	return each_with_news(s, poll_feed);
}

/* The engine counts late loads when the client acknowledges their events. */
static struct ot_err *pass_over_rest(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_msg_modules_reply reply;

	OT_TRY(vp_client_modules(&feed->link->client, feed->modules.seen, &reply));
	feed->modules.seen = reply.last;
	OT_TRY(vp_client_modules(&feed->link->client, feed->modules.seen, &reply));
	return take_late(s, feed, reply.late);
}

struct ot_err *vp_modules_last(struct vp_session *s)
{
	return each_with_news(s, pass_over_rest);
}

bool vp_modules_followed(const struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++)
		if (s->feeds[i].modules.followed)
			return true;
	return false;
}
