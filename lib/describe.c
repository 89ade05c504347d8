/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DTrace's descriptions of probes, records and aggregations, made when they are first needed and kept as long
 * as the handle. */
#include <string.h>

#include "lib/handle.h"

/* The offset of an element's first key: after the aggregation's number, for which 8 bytes are reserved, and
 * the variable's. */
#define KEYS_AT 16

static void copy_name(char *to, size_t size, const char *name)
{
	snprintf(to, size, "%s", name ? name : "");
}

static void describe_probe(const struct vp_probe *probe, dtrace_probedesc_t *ret)
{
	ret->dtpd_id = probe->id;
	copy_name(ret->dtpd_provider, sizeof(ret->dtpd_provider), probe->provider);
	copy_name(ret->dtpd_mod, sizeof(ret->dtpd_mod), probe->module);
	copy_name(ret->dtpd_func, sizeof(ret->dtpd_func), probe->function);
	copy_name(ret->dtpd_name, sizeof(ret->dtpd_name), probe->name);
}

/* A format without arguments is recorded with a number that stands for them. */
static bool stands_for_arguments(const struct dif_action *action)
{
	return DIF_ACT_IS_PRINTFLIKE(action->kind) && action->kind != DIF_ACT_printa && !action->object;
}

static dtrace_recdesc_t describe_datum(const struct dif_action *action, const struct dif_rec *rec)
{
	return (dtrace_recdesc_t){
		.dtrd_action = (dtrace_actkind_t)action->kind,
		.dtrd_size = rec->size,
		.dtrd_offset = rec->offset,
		.dtrd_alignment = (uint16_t)rec->align,
		.dtrd_format = action->format != NULL,
		.dtrd_arg = stands_for_arguments(action) ? 1 : action->arg,
		.dtrd_uarg = action->uarg,
	};
}

static struct ot_err *describe(dtrace_hdl_t *h, const struct vp_enabled *ecb, struct lib_enabled **ret)
{
	const struct dif_clause_layout *l = ecb->layout;
	struct lib_enabled *e = ot_arena_new(&h->arena, struct lib_enabled);
	dtrace_eprobedesc_t *desc =
	    ot_arena_alloc(&h->arena, sizeof(*desc) + l->nrecs * sizeof(desc->dtepd_rec[0]));

	if (!e || !desc)
		return ot_err_nomem();
	desc->dtepd_epid = ecb->epid;
	desc->dtepd_probeid = ecb->probe->id;
	desc->dtepd_size = l->size;
	desc->dtepd_nrecs = (int)l->nrecs;
	for (uint32_t i = 0; i < l->nrecs; i++)
		desc->dtepd_rec[i] = describe_datum(&ecb->clause->actions[l->recs[i].action], &l->recs[i]);
	e->clause = ecb->clause;
	e->layout = l;
	e->guest = ecb->guest;
	e->desc = desc;
	describe_probe(ecb->probe, &e->probe);
	*ret = e;
	return NULL;
}

struct ot_err *lib_enabled_of(dtrace_hdl_t *h, const struct vp_enabled *ecb, struct lib_enabled **ret)
{
	struct lib_enabled *e = ot_map_get(&h->enabled, &ecb->epid, sizeof(ecb->epid));

	if (!e) {
		OT_TRY(describe(h, ecb, &e));
		if (!ot_map_put(&h->enabled, &ecb->epid, sizeof(ecb->epid), e))
			return ot_err_nomem();
	}
	*ret = e;
	return NULL;
}

static uint32_t aligned(uint32_t at, uint32_t align)
{
	return align > 1 ? (at + align - 1) / align * align : at;
}

/* The variable's number, the keys, the value. */
static void lay_out(dtrace_aggdesc_t *desc, const struct con_agg *agg, const struct con_agg_source *source)
{
	const struct dif_agg_layout *l = source->layout;
	uint32_t at = KEYS_AT, i;

	desc->dtagd_rec[0] = (dtrace_recdesc_t){
		.dtrd_action = DTRACEACT_DIFEXPR, .dtrd_size = 8, .dtrd_offset = 8, .dtrd_alignment = 8
	};
	for (i = 0; i < l->nkeys; i++) {
		dtrace_recdesc_t *rec = &desc->dtagd_rec[1 + i];
		*rec = describe_datum(&source->clause->actions[l->keys[i].action], &l->keys[i]);
		rec->dtrd_offset = aligned(at, l->keys[i].align);
		at = rec->dtrd_offset + rec->dtrd_size;
	}
	desc->dtagd_rec[1 + i] = (dtrace_recdesc_t){
		.dtrd_action = (dtrace_actkind_t)agg->kind,
		.dtrd_size = l->nwords * 8,
		.dtrd_offset = aligned(at, 8),
		.dtrd_alignment = 8,
		.dtrd_arg = agg->arg,
	};
	desc->dtagd_nrecs = (int)l->nkeys + 2;
	desc->dtagd_size = desc->dtagd_rec[1 + i].dtrd_offset + l->nwords * 8;
}

static struct ot_err *describe_agg(dtrace_hdl_t *h, const struct con_agg *agg,
				   const struct con_agg_source *source, struct lib_agg **ret)
{
	struct lib_agg *a = ot_arena_new(&h->arena, struct lib_agg);
	dtrace_aggdesc_t *desc = ot_arena_alloc(&h->arena, sizeof(*desc) + (source->layout->nkeys + 2) *
									       sizeof(desc->dtagd_rec[0]));
	char *name = ot_arena_strdup(&h->arena, agg->name);

	if (!a || !desc || !name)
		return ot_err_nomem();
	a->desc = desc;
	a->enabled = ot_map_get(&h->enabled, &source->epid, sizeof(source->epid));
	desc->dtagd_name = name;
	desc->dtagd_varid = agg - h->consumer.aggs.vars + 1;
	desc->dtagd_id = (dtrace_aggid_t)h->aggs.count + 1;
	desc->dtagd_epid = source->epid;
	lay_out(desc, agg, source);
	*ret = a;
	return NULL;
}

struct ot_err *lib_agg_of(dtrace_hdl_t *h, const struct con_agg *agg, const struct con_agg_source *source,
			  struct lib_agg **ret)
{
	const uint32_t key[2] = { source->epid, source->layout->action };
	struct lib_agg *a = ot_map_get(&h->aggs, key, sizeof(key));

	if (!a) {
		OT_TRY(describe_agg(h, agg, source, &a));
		if (!ot_map_put(&h->aggs, key, sizeof(key), a))
			return ot_err_nomem();
	}
	*ret = a;
	return NULL;
}

bool lib_is_text(const struct dif_action *action)
{
	bool is_value = action->kind == DIF_ACT_difexpr || DIF_ACT_IS_PRINTFLIKE(action->kind);

	return is_value && action->object && action->object->ret.kind == DIF_TYPE_STRING;
}

struct ot_err *lib_scratch(dtrace_hdl_t *h, size_t size)
{
	size_t words = size / 8 + 2;

	if (!ot_grow(&h->scratch, &h->scratch_cap, words, sizeof(*h->scratch)))
		return ot_err_nomem();
	memset((uint8_t *)h->scratch + size, 0, words * 8 - size);
	return NULL;
}
