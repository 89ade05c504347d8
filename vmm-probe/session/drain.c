/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Drains data: reads the halves that an engine has exchanged (exchange.c), and its counters.
 *
 * Data in shared memory is trusted only within bounds, and each engine's only for the probes that it has: a
 * VMM must not write rows in the name of another's guest.
 */
#include <stdio.h>
#include <string.h>

#include "dif/vm/agg.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/ended.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/user_seen.h"

static struct vp_vcpu_status *status_of(const struct vp_feed *feed, uint32_t cpu)
{
	return vp_feed_status(feed) + cpu;
}

/* A word that an engine may be writing: read once. */
static uint64_t once(const uint64_t *p)
{
	return __atomic_load_n(p, __ATOMIC_ACQUIRE);
}

bool vp_exit_called(struct vp_session *s)
{
	for (uint32_t i = 0; i < s->nfeeds; i++) {
		struct vp_feed *feed = &s->feeds[i];
		for (uint32_t cpu = 0; feed->opened && cpu < feed->ncpus; cpu++) {
			uint64_t exit = once(&status_of(feed, cpu)->exit_pending);
			if (exit == 0 || exit == feed->seen[cpu].exit_pending)
				continue;
			feed->seen[cpu].exit_pending = exit;
			s->end.exited = true;
			s->end.exit_status = (int)(exit - 1);
		}
	}
	return s->end.exited;
}

static struct ot_err *report_drop(struct vp_session *s, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	return count ? s->sink.drop(s->sink.arg, kind, cpu, count) : NULL;
}

static uint64_t difference(uint64_t *seen, const uint64_t *now)
{
	uint64_t value = once(now), grown = value - *seen;

	*seen = value;
	return grown;
}

static struct ot_err *report_vcpu(struct vp_session *s, struct vp_feed *feed, uint32_t cpu)
{
	struct vp_vcpu_status *now = status_of(feed, cpu), *seen = &feed->seen[cpu];
	uint64_t principal = 0, agg = 0;

	for (int h = 0; h < 2; h++) {
		principal += difference(&seen->principal[h].dropped, &now->principal[h].dropped);
		agg += difference(&seen->aggregation[h].dropped, &now->aggregation[h].dropped);
	}
	OT_TRY(report_drop(s, VP_DROP_PRINCIPAL, cpu, principal));
	OT_TRY(report_drop(s, VP_DROP_AGGREGATION, cpu, agg));
	OT_TRY(report_drop(s, VP_DROP_DBLERROR, cpu, difference(&seen->error_drops, &now->error_drops)));
	OT_TRY(report_drop(s, VP_DROP_SPEC, cpu, difference(&seen->spec_drops, &now->spec_drops)));
	OT_TRY(report_drop(s, VP_DROP_SPECBUSY, cpu, difference(&seen->spec_busy, &now->spec_busy)));
	OT_TRY(report_drop(s, VP_DROP_SPECUNAVAIL, cpu, difference(&seen->spec_unavail, &now->spec_unavail)));
	OT_TRY(report_drop(s, VP_DROP_AGENT, cpu, difference(&seen->agent_lost, &now->agent_lost)));
	OT_TRY(report_drop(s, VP_DROP_RECORD, cpu, difference(&seen->records_lost, &now->records_lost)));
	return report_drop(s, VP_DROP_STKSTROVERFLOW, cpu,
			   difference(&seen->stkstr_overflows, &now->stkstr_overflows));
}

static struct ot_err *report_dynvars(struct vp_session *s, struct vp_feed *feed)
{
	struct dif_dynvar_drops now, *seen = &feed->shared.dynvars_seen;

	if (!feed->shared.dynvars)
		return NULL;
	dif_dynvars_drops(feed->shared.dynvars, &now);
	OT_TRY(report_drop(s, VP_DROP_DYNAMIC, 0, difference(&seen->drops, &now.drops)));
	OT_TRY(report_drop(s, VP_DROP_DYNRINSE, 0, difference(&seen->rinsing_drops, &now.rinsing_drops)));
	return report_drop(s, VP_DROP_DYNDIRTY, 0, difference(&seen->dirty_drops, &now.dirty_drops));
}

static struct ot_err *report_lost(struct vp_session *s, struct vp_feed *feed)
{
	uint64_t lost = feed->patching.lost - feed->lost_seen;

	feed->lost_seen = feed->patching.lost;
	if (lost && vp_kernel_replaced(feed))
		return NULL;
	return report_drop(s, VP_DROP_SITES, 0, lost);
}

struct ot_err *vp_feed_report(struct vp_session *s, struct vp_feed *feed)
{
	for (uint32_t cpu = 0; feed->opened && cpu < feed->ncpus; cpu++)
		OT_TRY(report_vcpu(s, feed, cpu));
	OT_TRY(report_lost(s, feed));
	return report_dynvars(s, feed);
}

const struct vp_enabled *vp_enabled_of(const struct vp_session *s, const struct vp_feed *feed, uint32_t epid)
{
	const struct vp_enabled *ecb =
	    epid && epid <= s->program.nenabled ? s->program.enabled[epid - 1] : NULL;

	return ecb && ecb->feed == feed - s->feeds ? ecb : NULL;
}

/* Reported once for each. */
void vp_feed_damaged(struct vp_session *s, struct vp_feed *feed)
{
	char text[VP_GUEST_NAME + 192];

	if (feed->damaged || !feed->link)
		return;
	feed->damaged = true;
	snprintf(text, sizeof(text),
		 "guest %s: its VMM (PID %u) sends data of probes that this session does not have there: the "
		 "rest of such a buffer is ignored, and the VMM can't be trusted",
		 feed->link->client.guest_name, feed->link->client.pid);
	vp_session_say(s, text);
}

/* The size of the record at @at, @left bytes before the end, and its ECB. 0: the engine wrote invalid data.
 * The VMM may still write there: only the checked bytes are kept. */
static uint32_t check_record(struct vp_session *s, const struct vp_feed *feed, const uint8_t *at,
			     uint64_t left, struct vp_pending *ret)
{
	struct vp_fault_record fault;
	uint32_t epid, size;

	memcpy(&epid, at, sizeof(epid));
	ret->fault = epid == VP_EPID_FAULT;
	if (ret->fault && left < sizeof(fault))
		return 0;
	if (ret->fault)
		memcpy(&fault, at, sizeof(fault));
	ret->ecb = vp_enabled_of(s, feed, ret->fault ? fault.ecb : epid);
	if (!ret->ecb)
		return 0;
	size = ret->fault ? sizeof(fault) : ret->ecb->layout->size;
	return size >= DIF_RECORD_HEADER && size <= left ? size : 0;
}

/* Copy the records between two offsets of a half. An invalid record ends the walk: those after it are
 * meaningless. */
static struct ot_err *collect_span(struct vp_session *s, uint32_t nth, uint32_t cpu, const uint8_t *half,
				   uint64_t at, uint64_t end)
{
	struct vp_feed *feed = &s->feeds[nth];

	while (at + sizeof(uint32_t) <= end) {
		struct vp_pending p = { .feed = nth, .cpu = cpu };
		uint32_t epid;

		memcpy(&epid, half + at, sizeof(epid));
		if (epid == 0) {
			at += sizeof(epid);
			continue;
		}
		p.size = check_record(s, feed, half + at, end - at, &p);
		if (!p.size) {
			vp_feed_damaged(s, feed);
			break;
		}
		if (!p.fault)
			vp_user_seen_record(s, feed, p.ecb, half + at);
		OT_TRY(vp_pending_keep(s, &p, half + at));
		at += p.size;
	}
	return NULL;
}

static struct ot_err *collect_half(struct vp_session *s, uint32_t nth, uint32_t cpu, unsigned half)
{
	struct vp_feed *feed = &s->feeds[nth];
	const struct vp_half *h = &status_of(feed, cpu)->principal[half];
	const uint8_t *mem = feed->shared.mem + vp_principal_offset(&feed->open, cpu, half);
	uint64_t used = once(&h->used), wrapped = once(&h->wrapped);

	if (used > feed->open.bufsize)
		used = feed->open.bufsize;
	if (s->options->bufpolicy == DIF_BUF_RING && wrapped != UINT64_MAX && wrapped <= feed->open.bufsize)
		OT_TRY(collect_span(s, nth, cpu, mem, wrapped, feed->open.bufsize));
	return collect_span(s, nth, cpu, mem, 0, used);
}

/* The aggregation of @ecb that an entry is of. NULL: none has its number and form. */
static const struct dif_agg_layout *agg_of(const struct vp_enabled *ecb, const struct dif_aggtab_entry *entry,
					   uint32_t aggid)
{
	for (uint32_t i = 0; i < ecb->layout->naggs; i++) {
		const struct dif_agg_layout *l = &ecb->layout->aggs[i];
		if (ecb->clause->actions[l->action].aggid == aggid && l->tuple_size == entry->tuple_size &&
		    l->nwords == entry->nwords && l->shape == entry->shape)
			return l;
	}
	return NULL;
}

/* *ret_damaged: the engine wrote invalid data. */
static struct ot_err *give_aggregate(struct vp_session *s, const struct vp_feed *feed, uint32_t cpu,
				     const struct dif_aggtab_entry *entry, bool *ret_damaged)
{
	const struct vp_enabled *ecb = vp_enabled_of(s, feed, entry->epid);
	const struct dif_agg_layout *layout = NULL;
	uint32_t aggid;

	memcpy(&aggid, entry->tuple, sizeof(aggid)); /* no tuple is shorter */
	if (ecb)
		layout = agg_of(ecb, entry, aggid & ~VP_AGG_INSIDE);
	*ret_damaged = !layout;
	if (!layout)
		return NULL;
	struct vp_aggregate agg = {
		.ecb = ecb,
		.layout = layout,
		.action = &ecb->clause->actions[layout->action],
		.cpu = cpu,
		.tuple = entry->tuple,
		.words = entry->words,
		.inside = aggid & VP_AGG_INSIDE,
	};
	vp_user_seen_tuple(s, feed, ecb, layout, entry->tuple);
	return s->sink.aggregate(s->sink.arg, &agg);
}

static struct ot_err *give_aggregates(struct vp_session *s, uint32_t nth, uint32_t cpu, unsigned half)
{
	struct vp_feed *feed = &s->feeds[nth];
	const struct vp_half *h = &status_of(feed, cpu)->aggregation[half];
	const uint8_t *mem = feed->shared.mem + vp_aggregation_offset(&feed->open, cpu, half);
	uint64_t used = once(&h->used);
	struct dif_aggtab_entry entry;
	bool damaged = false;
	size_t pos = 0;

	if (used > feed->open.aggsize)
		used = feed->open.aggsize;
	while (!damaged && dif_aggtab_next(mem, used, &pos, &entry))
		OT_TRY(give_aggregate(s, feed, cpu, &entry, &damaged));
	if (damaged)
		vp_feed_damaged(s, feed);
	return NULL;
}

static struct ot_err *read_half(struct vp_session *s, uint32_t nth, uint32_t cpu, unsigned half)
{
	OT_TRY(collect_half(s, nth, cpu, half));
	return give_aggregates(s, nth, cpu, half);
}

/* The half that an exchange released: the one that was active before, if there was an exchange (fill and ring
 * buffers have one at the end). For a VMM that has died, also the active half: every record counted in `used`
 * is complete. */
static struct ot_err *read_vcpu(struct vp_session *s, uint32_t nth, uint32_t cpu)
{
	struct vp_feed *feed = &s->feeds[nth];
	unsigned before = feed->seen[cpu].active;
	unsigned active = __atomic_load_n(&status_of(feed, cpu)->active, __ATOMIC_ACQUIRE) & 1;

	if (active != before)
		OT_TRY(read_half(s, nth, cpu, before));
	feed->seen[cpu].active = active;
	return feed->gone ? read_half(s, nth, cpu, active) : NULL;
}

struct ot_err *vp_feed_read(struct vp_session *s, struct vp_feed *feed)
{
	for (uint32_t cpu = 0; feed->opened && cpu < feed->ncpus; cpu++)
		OT_TRY(read_vcpu(s, (uint32_t)(feed - s->feeds), cpu));
	feed->read_out = feed->gone;
	return NULL;
}
