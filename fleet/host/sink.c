/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The session's data for the operator: numbers replace names, then the data is queued. Records of this host's
 * own BEGIN are discarded.
 */
#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "fleet/host/internal.h"

#define FAULTS_MAX 4096u /* waiting */

/* Sent as they are, to operators of other builds too. */
static_assert(FL_PROTOCOL == 2 && DIF_SPEC_PROVIDER == 3 && VP_DROP_MODULES == 15 && VP_GUEST_ENDS == 12,
	      "where the numbers change, so does FL_PROTOCOL");

/* Whether the operator has an EPID's definition. */
enum fl_known {
	UNKNOWN,
	TOLD,
	FORBIDDEN, /* a probe that was created later, of a provider that this host does not allow */
};

static struct ot_err *tell(struct fl_worker *w, const struct vp_enabled *ecb)
{
	const struct vp_probe *p = ecb->probe;
	const struct fl_enabled m = {
		ecb->epid, ecb->clause_index, ecb->guest, p->id, p->provider, p->module, p->function, p->name,
	};

	OT_TRY(fl_send_joined(w, ecb->guest));
	if (ecb->clause_index >= w->nclauses)
		OT_TRY(fl_send_program(w));
	fl_put_enabled(&w->out.enabled, &m);
	return w->out.enabled.len >= FL_BATCH ? fl_send(w, FL_ENABLED, &w->out.enabled) : NULL;
}

static bool is_allowed(const struct fl_worker *w, const struct vp_enabled *ecb)
{
	const struct fl_rights *rights = w->config->rights;

	/* the probe under a derived probe belongs to no program */
	return !rights || !rights->provider || ecb->clause->guest || ecb->probe->kind == VP_PROBE_ERROR ||
	       rights->provider(rights->arg, ecb->probe->provider);
}

/* *ret false: the operator does not get its data. */
static struct ot_err *is_operators(struct fl_worker *w, const struct vp_enabled *ecb, bool *ret)
{
	const size_t had = w->known_cap;

	*ret = false;
	if (!ecb->feed)
		return NULL;
	if (!ot_grow(&w->known, &w->known_cap, ecb->epid + 1, sizeof(*w->known)))
		return ot_err_nomem();
	memset(w->known + had, UNKNOWN, w->known_cap - had);
	if (w->known[ecb->epid] == UNKNOWN) {
		w->known[ecb->epid] = is_allowed(w, ecb) ? TOLD : FORBIDDEN;
		if (w->known[ecb->epid] == TOLD)
			OT_TRY(tell(w, ecb));
	}
	*ret = w->known[ecb->epid] == TOLD;
	return NULL;
}

/* --- names ------------------------------------------------------------------------------------------------ */

/* The places of @layout, which must not move; @agg NULL: of the record. */
static struct ot_err *places_of(struct fl_worker *w, const struct vp_enabled *ecb,
				const struct dif_agg_layout *agg, const struct fl_places **ret)
{
	const void *layout = agg ? (const void *)agg : ecb->layout;
	struct fl_places *places = ot_map_get(&w->places, &layout, sizeof(layout));

	*ret = places;
	if (places)
		return NULL;
	places = ot_arena_new(&w->arena, struct fl_places);
	if (!places)
		return ot_err_nomem();
	OT_TRY(agg ? fl_places_of_keys(ecb->clause, agg, &w->printed, &w->arena, places)
		   : fl_places_of_record(ecb->clause, ecb->layout, &w->arena, places));
	if (!ot_map_put(&w->places, &layout, sizeof(layout), places))
		return ot_err_nomem();
	*ret = places;
	return NULL;
}

/* @data with numbers in place of names, valid until the next call. */
static struct ot_err *number_names(struct fl_worker *w, const struct vp_enabled *ecb,
				   const struct dif_agg_layout *agg, const uint8_t *data, uint32_t size,
				   const uint8_t **ret)
{
	const struct fl_places *places;

	OT_TRY(places_of(w, ecb, agg, &places));
	*ret = data;
	if (!places->n)
		return NULL;
	ot_buf_clear(&w->scratch);
	ot_buf_append(&w->scratch, data, size);
	if (w->scratch.failed)
		return ot_err_nomem();
	*ret = (const uint8_t *)w->scratch.data;
	return fl_names_replace(&w->names, ecb->guest, places, agg != NULL, (uint8_t *)w->scratch.data);
}

/* There may be many names before the first record. */
static struct ot_err *send_names(struct fl_worker *w)
{
	return w->names.fresh.len >= FL_BATCH ? fl_send(w, FL_NAMES, &w->names.fresh) : NULL;
}

/* --- the sink --------------------------------------------------------------------------------------------- */

/* Keeps the operator's lease while a session delivers much at once. */
static void keep_alive(struct fl_worker *w)
{
	if (!w->broken && ot_now_ns() >= fl_link_due_ns(w->link))
		ot_err_destroy(fl_link_poll(w->link)); /* the next poll fails again, and is checked */
}

static struct ot_err *on_record(void *arg, const struct vp_record *r)
{
	struct fl_worker *w = arg;
	const uint8_t *data;
	bool wanted;

	OT_TRY(is_operators(w, r->ecb, &wanted));
	if (!wanted || r->size < r->ecb->layout->size)
		return NULL;
	OT_TRY(number_names(w, r->ecb, NULL, r->data, r->size, &data));
	const struct fl_record record = { r->ecb->epid, r->cpu, r->time_ns, { data, r->size } };
	bool taken;
	OT_TRY(fl_records_put(&w->records, &record, ot_now_ns(), &taken));
	if (!taken)
		OT_TRY(fl_losses_add(&w->out.losses, VP_DROP_PRINCIPAL, r->cpu, 1));
	keep_alive(w);
	return send_names(w);
}

static struct ot_err *on_aggregate(void *arg, const struct vp_aggregate *delta)
{
	struct fl_worker *w = arg;
	struct vp_aggregate numbered = *delta;
	bool wanted, taken;

	OT_TRY(is_operators(w, delta->ecb, &wanted));
	if (!wanted)
		return NULL;
	OT_TRY(number_names(w, delta->ecb, delta->layout, delta->tuple, delta->layout->tuple_size,
			    &numbered.tuple));
	OT_TRY(fl_gather_add(&w->gather, &numbered, &taken));
	if (!taken)
		OT_TRY(fl_losses_add(&w->out.losses, VP_DROP_AGGREGATION, delta->cpu, 1));
	keep_alive(w);
	return send_names(w);
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	struct fl_worker *w = arg;
	bool wanted;

	OT_TRY(is_operators(w, fault->ecb, &wanted));
	if (!wanted)
		return NULL;
	if (w->out.nfaults >= FAULTS_MAX)
		return fl_losses_add(&w->out.losses, VP_DROP_DBLERROR, fault->cpu, 1);
	const struct fl_fault m = { fault->ecb->epid, fault->cpu,   fault->action,
				    fault->offset,    fault->fault, fault->address };
	fl_put_fault(&w->out.faults, &m);
	w->out.nfaults++;
	return w->out.faults.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *on_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	struct fl_worker *w = arg;

	return fl_losses_add(&w->out.losses, kind, cpu, count);
}

static struct ot_err *on_overload(void *arg, const struct vp_overload_info *o)
{
	const struct fl_overload m = { o->ecb->epid, o->taken, o->percent, o->limit };
	struct fl_worker *w = arg;
	struct ot_buf out;
	bool wanted;

	OT_TRY(is_operators(w, o->ecb, &wanted));
	if (!wanted)
		return NULL;
	if (w->out.enabled.len)
		OT_TRY(fl_send(w, FL_ENABLED, &w->out.enabled));
	ot_buf_init(&out);
	fl_put_overload(&out, &m);
	struct ot_err *err = fl_send(w, FL_OVERLOAD, &out);
	ot_buf_deinit(&out);
	return err;
}

static void on_say(void *arg, const char *text)
{
	ot_err_destroy(fl_send_say(arg, true, text));
}

static void on_guest(void *arg, const struct vp_guest_news *news)
{
	struct fl_worker *w = arg;

	ot_err_destroy(news->joined ? fl_send_joined(w, news->guest) : fl_send_left(w, news));
}

struct vp_sink fl_sink_of(struct fl_worker *w)
{
	return (
	    struct vp_sink){ w, on_record, on_aggregate, on_fault, on_drop, on_overload, on_say, on_guest };
}
