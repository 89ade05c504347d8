/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records of the guest's agent for an engine: its calls, rings, and its move after a reload of the
 * module. */
#include "vmm-probe/guest/agent.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/guest/readings.h"
#include "vmm-probe/provider/fbt_sites.h"
#include "vmm-probe/session/agent.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"

#define CALLS_ID (UINT32_MAX - 1) /* no probe has it */

/* The sites of the agent's calls to the host. If one can't be trapped, rings are polled anyway, and events
 * get the time of the poll. */
static struct ot_err *add_call(struct vp_probes *probes, struct ot_buf *out, uint64_t gva, uint64_t size,
			       enum vp_agent_call call, uint32_t *n)
{
	ot_auto_free struct vp_batch_site *sites = NULL;
	const struct vp_probe function = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_FBT_ENTRY,
		.module = GA_MODULE,
		.function = "",
		.gva = gva,
		.size = size,
	};
	uint32_t count = 0;

	if (!size)
		return NULL;
	struct ot_err *err = vp_function_entry_site(probes, &function, NULL, &sites, &count);

	if (err && (ot_err_code(err) == OT_ERR_NO_MEMORY || ot_err_code(err) == OT_ERR_GUEST_GONE))
		return err;
	ot_err_destroy(err);
	for (uint32_t i = 0; !err && i < count; i++)
		sites[i].agent = (uint8_t)call;
	if (!err)
		ot_buf_append(out, sites, count * sizeof(*sites));
	*n += err ? 0 : count;
	return NULL;
}

static struct ot_err *add_calls(struct vp_probes *probes, const struct vp_guest_agent *agent,
				struct ot_buf *out, struct vp_batch_probe *bp)
{
	bp->first_site = (uint32_t)(out->len / sizeof(struct vp_batch_site));
	bp->nsites = 0;
	OT_TRY(add_call(probes, out, agent->doorbell, agent->doorbell_size, VP_AGENT_CALL_DOORBELL,
			&bp->nsites));
	return add_call(probes, out, agent->mark, agent->mark_size, VP_AGENT_CALL_MARK, &bp->nsites);
}

struct ot_err *vp_batch_agent_sites(struct vp_feed *feed, struct vp_batch_probe *bp)
{
	struct vp_probes *probes = feed->link->probes;

	return add_calls(probes, vp_probes_agent(probes, NULL), &feed->batch_sites, bp);
}

unsigned vp_views_of(const struct vp_session *s, uint32_t guest, const struct vp_probe *probe)
{
	const char *word = ot_map_gets(&s->options->set, "view");
	const struct vp_probes *probes;
	struct vp_batch_probe bp;

	if (probe->kind == VP_PROBE_AGENT)
		return VP_VIEW_INSIDE;
	if (!word || !strcmp(word, "outside") || !s->links.n || probe->kind != VP_PROBE_SITE)
		return VP_VIEW_OUTSIDE;
	probes = s->links.items[guest]->probes;
	if (!vp_probes_inside(probes, probe, vp_probes_agent(probes, NULL), &bp))
		return VP_VIEW_OUTSIDE;
	return strcmp(word, "both") ? VP_VIEW_INSIDE : VP_VIEW_INSIDE | VP_VIEW_OUTSIDE;
}

/* The guest's reports about its probes: places where it refused or removed a kprobe, and hits that its
 * kprobes missed. */
struct troubles {
	uint64_t refused, missed;
};

static struct troubles read_troubles(struct vp_feed *feed)
{
	const struct vp_guest_agent *agent = vp_probes_agent(feed->link->probes, NULL);
	ot_auto_free struct ga_entry *entries = malloc(GA_SLOTS * sizeof(*entries));
	struct troubles t = { 0 };

	/* After a reload of the agent its catalogue is elsewhere, and its counts restart at 0. */
	if (!entries || !agent || feed->gone || feed->agent.gone || feed->agent.moved ||
	    !feed->batch_agent.len)
		return t;
	struct ot_err *err =
	    vp_guest_read_once(feed->link->guest, &vp_readings[VP_READ_WATCH],
			       vp_gva(agent->header.catalogue_gva), entries, GA_SLOTS * sizeof(*entries));

	for (size_t i = 0; !err && i < GA_SLOTS; i++) {
		t.refused += entries[i].error != 0;
		t.missed += entries[i].missed;
	}
	ot_err_destroy(err);
	return t;
}

struct ot_err *vp_agent_started(struct vp_session *s, struct vp_feed *feed)
{
	struct troubles t = read_troubles(feed);

	feed->agent.missed = t.missed;
	return t.refused ? s->sink.drop(s->sink.arg, VP_DROP_REFUSED, 0, t.refused) : NULL;
}

struct ot_err *vp_agents_stopped(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		uint64_t before = s->feeds[i].agent.missed, now = read_troubles(&s->feeds[i]).missed;

		if (now > before)
			OT_TRY(s->sink.drop(s->sink.arg, VP_DROP_MISSED, 0, now - before));
	}
	return NULL;
}

static bool wants_agent(const struct vp_feed *feed)
{
	const struct vp_batch_probe *list = (const void *)feed->batch_probes.data;

	for (size_t i = 0; i < feed->batch_probes.len / sizeof(*list); i++)
		if (list[i].kind == VP_PROBE_AGENT)
			return true;
	return false;
}

/* A ring belongs to the vCPU with the same per-CPU area. */
static void place_rings(const struct vp_feed *feed, const struct vp_guest_agent *agent,
			struct vp_batch_agent *ret)
{
	const struct vp_facts *facts = &feed->link->facts;

	for (uint32_t vcpu = 0; vcpu < feed->ncpus && vcpu < VP_VCPUS_MAX; vcpu++)
		for (size_t i = 0; i < agent->ncpus; i++) {
			if (!facts->percpu_base[vcpu] || agent->cpus[i].percpu != facts->percpu_base[vcpu])
				continue;
			ret->rings[vcpu].gpa = agent->cpus[i].gpa;
			ret->rings[vcpu].records = agent->cpus[i].records;
		}
}

static struct ot_err *add_place(struct vp_feed *feed, const struct vp_guest_agent *agent)
{
	ot_auto_free struct vp_batch_agent *place = calloc(1, sizeof(*place));

	if (!place)
		return ot_err_nomem();
	place->token = agent->header.token;
	place->header_gpa = agent->header_gpa.v;
	place->control_gpa = agent->header.control_gpa;
	place->tsc_khz = agent->header.tsc_khz;
	place_rings(feed, agent, place);
	ot_buf_clear(&feed->batch_agent);
	ot_buf_append(&feed->batch_agent, place, sizeof(*place));
	return NULL;
}

struct ot_err *vp_batch_add_agent(struct vp_feed *feed)
{
	struct vp_batch_probe bp = { .id = CALLS_ID, .kind = VP_PROBE_AGENT_CALL };

	if (!feed->link || !wants_agent(feed))
		return NULL;
	OT_TRY(add_place(feed, vp_probes_agent(feed->link->probes, NULL)));
	OT_TRY(vp_batch_agent_sites(feed, &bp));
	if (bp.nsites)
		ot_buf_append(&feed->batch_probes, &bp, sizeof(bp));
	return NULL;
}

/* --- a reload of the module --------------------------------------------------------------------------- */

/* The new agent's places of the batch's probes; a probe that it lacks is left out. */
static void add_moved(const struct vp_feed *feed, const struct vp_guest_agent *agent, struct ot_buf *out)
{
	const struct vp_batch_probe *list = (const void *)feed->batch_probes.data;

	for (size_t i = 0; i < feed->batch_probes.len / sizeof(*list); i++) {
		const struct vp_probe *probe = vp_probes_get(feed->link->probes, list[i].id);
		struct vp_batch_probe bp;

		if (list[i].kind == VP_PROBE_AGENT && probe &&
		    vp_probes_inside(feed->link->probes, probe, agent, &bp))
			ot_buf_append(out, &bp, sizeof(bp));
	}
}

/* A batch without ECBs, which do not change. */
static struct ot_err *enable_moved(struct vp_feed *feed, const struct vp_guest_agent *agent)
{
	struct vp_feed moved = { .link = feed->link, .ncpus = feed->ncpus };
	struct vp_batch_probe calls = { .id = CALLS_ID, .kind = VP_PROBE_AGENT_CALL };
	struct ot_buf *parts[] = { &moved.batch_probes, &moved.batch_sites, &moved.batch_strings,
				   &moved.batch_agent };
	struct ot_err *err = add_place(&moved, agent);

	add_moved(feed, agent, &moved.batch_probes);
	ot_buf_append(&moved.batch_strings, "", 1);
	if (!err)
		err = add_calls(feed->link->probes, agent, &moved.batch_sites, &calls);
	if (!err && calls.nsites)
		ot_buf_append(&moved.batch_probes, &calls, sizeof(calls));
	if (!err)
		err = vp_batch_send(&moved);
	for (size_t i = 0; i < OT_ARRAY_SIZE(parts); i++)
		ot_buf_deinit(parts[i]);
	return err;
}

static struct ot_err *poll_feed(struct vp_feed *feed)
{
	struct vp_guest_agent agent;
	struct ot_err *err = vp_guest_agent_read(feed->link->guest, &agent);

	if (!err) {
		feed->agent.moved = true;
		err = enable_moved(feed, &agent);
		vp_guest_agent_deinit(&agent);
	}
	/* Not loaded (yet), or unloaded again meanwhile: the next poll decides. */
	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY && ot_err_code(err) != OT_ERR_GUEST_GONE) {
		ot_err_destroy(err);
		return NULL;
	}
	return err;
}

struct ot_err *vp_agents_poll(struct vp_session *s)
{
	for (uint32_t i = 1; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];

		/* the engine may report this for a guest whose kernel is unknown */
		if (!feed->agent.gone || !vp_feed_can_ask(feed) || !feed->link->guest)
			continue;
		OT_TRY(vp_note_gone(s, feed, poll_feed(feed)));
	}
	return NULL;
}
