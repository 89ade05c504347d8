/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking aggregations through DTrace's functions: dtrace_aggregate_snap(3). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/handle.h"

int dtrace_aggregate_snap(dtrace_hdl_t *h)
{
	if (lib_check_going(h))
		return -1;
	if (h->state == LIB_STOPPED) /* everything has been read */
		return 0;
	lib_begin(h);
	int result = lib_result(h, vp_session_snap(h->session));
	lib_end(h);
	return result ? result : lib_take_error(h);
}

/* --- walking -------------------------------------------------------------------------------------------- */

/* A walk over one aggregation. */
struct walk {
	dtrace_hdl_t *h;
	struct con_agg *agg;
	dtrace_aggregate_f *func;
	void *arg;
	bool remove; /* the element that was shown last */
};

/* The element's data in the layout of lay_out() of describe.c, in the handle's scratch. */
static struct ot_err *copy_data(dtrace_hdl_t *h, const dtrace_aggdesc_t *desc, struct con_agg_entry *e)
{
	uint32_t nkeys = e->source->layout->nkeys, id = desc->dtagd_id;
	const dtrace_recdesc_t *value = &desc->dtagd_rec[nkeys + 1];

	OT_TRY(lib_scratch(h, desc->dtagd_size));
	uint8_t *at = (uint8_t *)h->scratch;
	memset(at, 0, desc->dtagd_size);
	memcpy(at, &id, sizeof(id));
	memcpy(at + 8, &desc->dtagd_varid, 8);
	for (uint32_t i = 0; i < nkeys; i++) {
		const dtrace_recdesc_t *rec = &desc->dtagd_rec[1 + i];
		struct con_datum d = con_agg_key(e, i);

		memcpy(at + rec->dtrd_offset, d.data, rec->dtrd_size);
		if (lib_is_text(d.action) && rec->dtrd_size)
			at[rec->dtrd_offset + rec->dtrd_size - 1] = '\0';
	}
	memcpy(at + value->dtrd_offset, e->words, value->dtrd_size);
	return NULL;
}

/* The callback's action on the element. */
static struct ot_err *obey(struct walk *w, int said, struct con_agg_entry *e, uint64_t normal)
{
	switch (said) {
	case DTRACE_AGGWALK_NEXT:
		return NULL;
	case DTRACE_AGGWALK_CLEAR:
		con_agg_entry_clear(w->agg, e);
		return NULL;
	case DTRACE_AGGWALK_NORMALIZE:
		if (!normal)
			return ot_err_new(OT_ERR_BAD_DATA, "Normalization by 0");
		e->normal = normal;
		return NULL;
	case DTRACE_AGGWALK_DENORMALIZE:
		e->normal = 1;
		return NULL;
	case DTRACE_AGGWALK_REMOVE:
		w->remove = true;
		return NULL;
	case DTRACE_AGGWALK_ERROR:
	case DTRACE_AGGWALK_ABORT:
		return lib_err(w->h, OUTSIGHT_E_ABORTED);
	default:
		return lib_err(w->h, OUTSIGHT_E_CALLBACK);
	}
}

static struct ot_err *show(struct walk *w, struct con_agg_entry *e)
{
	dtrace_hdl_t *h = w->h;
	struct lib_agg *a;

	w->remove = false;
	OT_TRY(lib_agg_of(h, w->agg, e->source, &a));
	OT_TRY(copy_data(h, a->desc, e));
	h->current = (struct lib_current){
		.guest = e->source->guest, .is_set = true, .entry = e, .enabled = a->enabled
	};
	dtrace_aggdata_t data = {
		.dtada_handle = h,
		.dtada_desc = a->desc,
		.dtada_edesc = a->enabled ? a->enabled->desc : NULL,
		.dtada_pdesc = a->enabled ? &a->enabled->probe : NULL,
		.dtada_data = (caddr_t)h->scratch,
		.dtada_normal = e->normal,
		.dtada_size = a->desc->dtagd_size,
	};
	int said = w->func(&data, w->arg);
	h->current.is_set = false;
	return obey(w, said, e, data.dtada_normal);
}

/* The elements in a separate order, because removing changes the aggregation's. */
static struct ot_err *sorted(struct con_agg *agg, const struct con_agg_order *order,
			     struct con_agg_entry ***ret)
{
	if (order)
		return con_agg_sort(agg, order, ret);
	*ret = calloc(agg->count + 1, sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	if (agg->count)
		memcpy(*ret, agg->entries, agg->count * sizeof(**ret));
	return NULL;
}

static struct ot_err *walk_one(struct walk *w, const struct con_agg_order *order)
{
	struct con_agg_entry **list = NULL;
	bool *keep = calloc(w->agg->count + 1, sizeof(*keep)), removes = false;
	struct ot_err *err = keep ? sorted(w->agg, order, &list) : ot_err_nomem();

	if (keep)
		memset(keep, true, w->agg->count);
	for (size_t i = 0; !err && i < w->agg->count; i++) {
		err = show(w, list[i]);
		if (err || !w->remove)
			continue;
		keep[con_agg_index(w->agg, list[i])] = false;
		removes = true;
	}
	if (removes)
		con_agg_keep(w->agg, keep);
	free(list);
	free(keep);
	return err;
}

static struct ot_err *walk_all(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg,
			       const struct con_agg_order *order)
{
	for (uint32_t i = 0; i < h->consumer.aggs.nvars; i++) {
		struct walk w = { .h = h, .agg = &h->consumer.aggs.vars[i], .func = func, .arg = arg };
		OT_TRY(walk_one(&w, order));
	}
	return NULL;
}

static int walk(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg, const struct con_agg_order *order)
{
	if (lib_check_going(h))
		return -1;
	if (!func || !h->has_consumer)
		return lib_fail(h, EINVAL);
	lib_begin(h);
	int result = lib_result(h, walk_all(h, func, arg, order));
	lib_end(h);
	return result;
}

int dtrace_aggregate_walk(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg)
{
	return walk(h, func, arg, NULL);
}

int dtrace_aggregate_walk_valsorted(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg)
{
	return walk(h, func, arg, &(struct con_agg_order){ 0 });
}

int dtrace_aggregate_walk_keysorted(dtrace_hdl_t *h, dtrace_aggregate_f *func, void *arg)
{
	return walk(h, func, arg, &(struct con_agg_order){ .by_key = true });
}

/* --- all of them ---------------------------------------------------------------------------------------- */

void dtrace_aggregate_clear(dtrace_hdl_t *h)
{
	for (uint32_t i = 0; h->has_consumer && i < h->consumer.aggs.nvars; i++)
		con_agg_clear(&h->consumer.aggs.vars[i]);
}

int dtrace_aggregate_print(dtrace_hdl_t *h, FILE *fp, dtrace_aggregate_walk_f *func)
{
	(void)func;
	if (lib_check_going(h))
		return -1;
	if (!h->has_consumer)
		return lib_fail(h, EINVAL);
	lib_begin(h);
	struct ot_err *err = con_print_rest(h->consumer.out, &h->consumer.aggs);
	if (!err)
		err = lib_write(h, fp, NULL, NULL);
	lib_end(h);
	return lib_result(h, err);
}
