/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Modules that a guest loads and unloads during a session. The engine tells of each (struct vp_msg_modules),
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
#include "vmm-probe/session/modules.h"

#define READS_MAX 3u  /* while other vCPUs change what is read */
#define TURNS_MAX 16u /* a guest that loads modules all the time is answered again at the next poll */

/* --- whether a session follows them ------------------------------------------------------------------ */

/* May a description mean a probe of a module that comes later? */
static bool may_mean_module(const struct dif_probedesc *desc)
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

static bool may_mean_modules(const struct vp_session *s, const struct dif_program *prog, uint32_t guest)
{
	for (uint32_t i = 0; i < prog->nclauses; i++)
		if (vp_clause_wants_guest(s, &prog->clauses[i], guest) &&
		    may_mean_module(&prog->clauses[i].probe))
			return true;
	return false;
}

static bool can_tell(const struct vp_guest_link *link)
{
	return link->guest && vp_link_engine_is_away(link) && (link->needed_for || link->client.has_modules);
}

/* Debug registers are few, and whoever asks for them wants the text left alone. */
bool vp_modules_wanted(const struct vp_session *s, const struct dif_program *prog, uint32_t guest)
{
	return s->links.opts.trap != VP_WISH_HW && can_tell(s->links.items[guest]) &&
	       may_mean_modules(s, prog, guest);
}

void vp_modules_follow(struct vp_session *s, struct vp_feed *feed)
{
	feed->modules.followed = feed->link && vp_modules_wanted(s, s->program.prog, feed->guest);
	feed->has_work |= feed->modules.followed;
}

/* --- what can be enabled late -------------------------------------------------------------------------- */

static void say(struct vp_session *s, const char *text)
{
	if (s->sink.say)
		s->sink.say(s->sink.arg, text);
}

static bool is_same_type(struct dif_type *a, struct dif_type *b)
{
	struct ot_buf x, y;

	if (a == b)
		return true;
	ot_buf_init(&x);
	ot_buf_init(&y);
	dif_type_print(a, &x);
	dif_type_print(b, &y);
	bool same = !strcmp(ot_buf_str(&x), ot_buf_str(&y));
	ot_buf_deinit(&x);
	ot_buf_deinit(&y);
	return same;
}

/* A probe and the registry that it is of. */
struct known {
	struct vp_probes *probes;
	const struct vp_probe *probe;
};

static bool is_same_arg(struct known a, struct known b, unsigned n)
{
	struct dif_probe_arg x, y;

	return vp_probes_arg(a.probes, a.probe, n, &x) && vp_probes_arg(b.probes, b.probe, n, &y) &&
	       x.mapping == y.mapping &&
	       !strcmp(x.translated ? x.translated : "", y.translated ? y.translated : "") &&
	       is_same_type(x.native, y.native);
}

/* The probe whose args[] a clause was compiled for, perhaps of another guest. No probe: there is none. */
static struct known compiled_for(const struct vp_session *s, uint32_t clause)
{
	for (size_t i = 0; i < s->program.nenabled; i++) {
		const struct vp_enabled *e = s->program.enabled[i];
		if (e->clause_index == clause)
			return (struct known){ s->links.items[e->guest]->probes, e->probe };
	}
	return (struct known){ 0 };
}

static bool args_fit(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe)
{
	const struct known late = { s->links.items[guest]->probes, probe };
	uint64_t used = s->program.prog->clauses[clause].args_used;
	struct known first = { 0 };

	if (used)
		first = compiled_for(s, clause);
	for (unsigned n = 0; first.probe && n < 64; n++)
		if (used & 1ull << n && (n == 63 || !is_same_arg(first, late, n)))
			return false;
	return true;
}

bool vp_late_fits(struct vp_session *s, uint32_t clause, uint32_t guest, const struct vp_probe *probe)
{
	char text[256];

	if (probe->kind != VP_PROBE_SITE && probe->kind != VP_PROBE_AGENT)
		return false;
	if (args_fit(s, clause, guest, probe))
		return true;
	if (!s->said_args) {
		snprintf(text, sizeof(text),
			 "%s:%s:%s:%s came with a module and is left out: its args[] have other types than "
			 "those that the clause in line %u was compiled for",
			 probe->provider, probe->module, probe->function, probe->name,
			 s->program.prog->clauses[clause].line);
		say(s, text);
	}
	s->said_args = true;
	return false;
}

/* --- a module has come ---------------------------------------------------------------------------------- */

/* The probes above @after, if a description means one. */
static struct ot_err *enable(struct vp_session *s, struct vp_feed *feed, uint32_t after)
{
	struct vp_feed late = { .link = feed->link,
				.guest = feed->guest,
				.ncpus = feed->ncpus,
				.has_work = false,
				.planted = feed->sentinels };
	struct ot_err *err = vp_batch_make_late(s, (uint32_t)(feed - s->feeds), after, &late);

	if (!err && late.has_work)
		err = vp_batch_send_retrying(s, &late);
	if (!err && late.has_work) {
		feed->sentinels.keys |= late.sentinels.keys;
		vp_batch_keep_agents(feed, &late);
	}
	vp_batch_clear(&late);
	return err;
}

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
	return enable(s, feed, after);
}

/* An error of the guest's bytes, or of a module that is gone again: what was read until then stands. One of
 * this process, or of the connection, is returned. */
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
		say(s, text);
		feed->modules.ended = true;
		break;
	case OT_ERR_BAD_DATA:
	case OT_ERR_UNSUPPORTED:
		snprintf(text, sizeof(text), "%s: a module's probes can't be enabled: %s",
			 feed->link->client.guest_name, ot_err_message(err));
		say(s, text);
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

static struct ot_err *look(struct vp_session *s, struct vp_feed *feed)
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

/* The engine's word in shared memory says whether asking is worth it. */
static bool has_news(const struct vp_session *s, const struct vp_feed *feed)
{
	const struct vp_vcpu_status *first = (const void *)(s->shared.mem + feed->open.status_offset);

	return !feed->modules.asked ||
	       __atomic_load_n(&first->modules, __ATOMIC_ACQUIRE) > feed->modules.seen;
}

static struct ot_err *each_with_news(struct vp_session *s,
				     struct ot_err *(*answer)(struct vp_session *s, struct vp_feed *feed))
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		if (!feed->modules.followed || !feed->started || feed->gone || feed->noticed_ns ||
		    !has_news(s, feed))
			continue;
		OT_TRY(vp_note_gone(s, feed, answer(s, feed)));
	}
	return NULL;
}

struct ot_err *vp_modules_look(struct vp_session *s)
{
	return each_with_news(s, look);
}

/* The engine counts late loads when it is told that their events were seen. */
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
