/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Passes a host's data to the sink: each number in it must be one that the host has defined. */
#include <string.h>

#include "base/clock.h"
#include "fleet/operator/internal.h"

/* The error of wrong data, or of the sink. */
static struct ot_err *bad(const char *what)
{
	return ot_err_new(OT_ERR_BAD_DATA, "%s that its program does not have", what);
}

static const struct vp_enabled *ecb_of(const struct fl_host *h, uint32_t epid)
{
	return ot_map_get(&h->enabled, &epid, sizeof(epid));
}

/* --- RECORDS -------------------------------------------------------------------------------------------- */

static struct ot_err *record(struct fl_host *h, const struct fl_record *m)
{
	const struct vp_enabled *ecb = ecb_of(h, m->epid);
	struct fl_bytes data = m->data;

	if (!ecb || !ecb->layout->size || data.len < ecb->layout->size || m->cpu >= VP_VCPUS_MAX)
		return bad("a record");
	OT_TRY(fl_host_qualify(h, ecb, ecb->layout->recs, ecb->layout->nrecs, &data));
	const struct vp_record r = { ecb, m->cpu, fl_host_time(h, m->time), data.data, data.len };
	return fl_order_put(&h->fleet->order, &r, ot_now_ns());
}

static struct ot_err *records(struct fl_host *h, struct fl_reader *r, struct ot_arena *arena)
{
	struct fl_clock clock;
	struct fl_record m;

	fl_get_clock(r, &clock);
	if (!r->failed)
		fl_host_take_clock(h, &clock);
	while (fl_next_record(r, arena, &m))
		OT_TRY(record(h, &m));
	return NULL;
}

/* --- AGGREGATES ----------------------------------------------------------------------------------------- */

static const struct dif_agg_layout *find_layout(const struct vp_enabled *ecb, uint32_t action)
{
	for (uint32_t i = 0; i < ecb->layout->naggs; i++)
		if (ecb->layout->aggs[i].action == action)
			return &ecb->layout->aggs[i];
	return NULL;
}

static struct ot_err *aggregate(struct fl_host *h, const struct fl_aggregate *m)
{
	struct fl_fleet *fleet = h->fleet;
	const struct vp_enabled *ecb = ecb_of(h, m->epid);
	const struct dif_agg_layout *l = ecb ? find_layout(ecb, m->action) : NULL;

	if (!l || m->tuple.len != l->tuple_size || m->words.len != l->nwords * sizeof(uint64_t))
		return bad("an aggregation");
	if (!ot_grow(&fleet->words, &fleet->words_cap, l->nwords, sizeof(*fleet->words)))
		return ot_err_nomem();
	memcpy(fleet->words, m->words.data, m->words.len);
	struct fl_bytes tuple = m->tuple;
	OT_TRY(fl_host_qualify(h, ecb, l->keys, l->nkeys, &tuple));
	const struct vp_aggregate delta = {
		.ecb = ecb,
		.layout = l,
		.action = &ecb->clause->actions[m->action],
		.tuple = tuple.data,
		.words = fleet->words,
		.account = &h->keys,
	};
	return fleet->sink.aggregate(fleet->sink.arg, &delta);
}

static struct ot_err *aggregates(struct fl_host *h, struct fl_reader *r, struct ot_arena *arena)
{
	struct fl_aggregate m;

	while (fl_next_aggregate(r, arena, &m))
		OT_TRY(aggregate(h, &m));
	return fl_room_tell(h, ot_now_ns());
}

/* --- FAULTS, DROPS, OVERLOAD ---------------------------------------------------------------------------- */

static struct ot_err *faults(struct fl_host *h, struct fl_reader *r, struct ot_arena *arena)
{
	const struct vp_sink *sink = &h->fleet->sink;
	struct fl_fault m;

	while (fl_next_fault(r, arena, &m)) {
		const struct vp_enabled *ecb = ecb_of(h, m.epid);
		if (!ecb || m.cpu >= VP_VCPUS_MAX || m.action > ecb->clause->nactions)
			return bad("a fault");
		const struct vp_fault_info fault = {
			ecb, m.cpu, m.action, m.offset, (enum dif_fault)m.fault, m.address
		};
		OT_TRY(sink->fault(sink->arg, &fault));
	}
	return NULL;
}

static struct ot_err *drops(struct fl_host *h, struct fl_reader *r, struct ot_arena *arena)
{
	const struct vp_sink *sink = &h->fleet->sink;
	struct fl_drop m;

	while (fl_next_drop(r, arena, &m)) {
		if (m.kind > VP_DROP_MODULES || m.cpu >= VP_VCPUS_MAX)
			return bad("a drop");
		if (m.count)
			OT_TRY(sink->drop(sink->arg, (enum vp_drop_kind)m.kind, m.cpu, m.count));
	}
	return NULL;
}

static struct ot_err *overload(struct fl_host *h, const void *data, size_t len, struct ot_arena *arena)
{
	const struct vp_sink *sink = &h->fleet->sink;
	struct fl_overload m;

	OT_TRY(fl_get_overload(data, len, arena, &m));
	const struct vp_overload_info info = { ecb_of(h, m.epid), m.taken, m.percent, m.limit };
	return info.ecb ? sink->overload(sink->arg, &info) : bad("an overload");
}

/* --- any of them ---------------------------------------------------------------------------------------- */

static struct ot_err *take_list(struct fl_host *h, enum fl_kind kind, struct fl_reader *r,
				struct ot_arena *arena)
{
	switch ((unsigned)kind) {
	case FL_RECORDS:
		return records(h, r, arena);
	case FL_AGGREGATES:
		return aggregates(h, r, arena);
	case FL_FAULTS:
		return faults(h, r, arena);
	default:
		return drops(h, r, arena);
	}
}

struct ot_err *fl_host_take_data(struct fl_host *h, enum fl_kind kind, const void *data, size_t len)
{
	struct fl_reader r = fl_reader_of(data, len);
	struct ot_arena arena;
	struct ot_err *err;

	if (!h->fleet->prog)
		return bad("data before START");
	ot_arena_init(&arena);
	if (kind == FL_OVERLOAD) {
		err = overload(h, data, len, &arena);
	} else {
		err = take_list(h, kind, &r, &arena);
		if (!err)
			err = fl_reader_end(&r, kind);
	}
	ot_arena_deinit(&arena);
	return err;
}
