/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deltas of aggregations that wait for the link: gather.h. */
#include "fleet/host/gather.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "fleet/wire/message.h"

struct ot_err *fl_gather_init(struct fl_gather *g, const struct dif_program *prog,
			      const struct dif_options *opts)
{
	/* one guest: keys are bytes, in which each guest's names have its own numbers */
	*g = (struct fl_gather){ .printer = { .opts = opts, .symbols.nguests = 1 }, .max = FL_GATHER_KEYS };
	return con_aggs_init(&g->aggs, prog);
}

void fl_gather_deinit(struct fl_gather *g)
{
	con_aggs_deinit(&g->aggs);
}

struct ot_err *fl_gather_add(struct fl_gather *g, const struct vp_aggregate *delta, bool *ret_taken)
{
	struct con_agg *agg = con_aggs_get(&g->aggs, delta->action->aggid);
	size_t before = agg ? agg->count : 0;

	*ret_taken = g->nkeys < g->max;
	if (!*ret_taken)
		return NULL;
	OT_TRY(con_aggs_add(&g->aggs, &g->printer, delta));
	g->nkeys += agg->count - before;
	return NULL;
}

struct taking {
	struct ot_err *(*send)(void *arg, const struct ot_buf *batch);
	void *arg;
	struct ot_buf batch;
	size_t left; /* remaining bytes of this call */
};

/* The tuple begins with the aggregation's number again, as its engine wrote it. */
static struct ot_err *put(struct taking *t, struct con_agg_entry *e)
{
	const struct dif_agg_layout *l = e->source->layout;
	const uint32_t aggid = e->source->clause->actions[l->action].aggid;
	uint8_t *tuple = con_agg_tuple(e);
	const struct fl_aggregate element = {
		.epid = e->source->epid,
		.action = l->action,
		.tuple = { tuple, l->tuple_size },
		.words = { (const uint8_t *)e->words, l->nwords * (uint32_t)sizeof(uint64_t) },
	};
	const size_t before = t->batch.len;

	memcpy(tuple, &aggid, sizeof(aggid));
	fl_put_aggregate(&t->batch, &element);
	if (t->batch.failed)
		return ot_err_nomem();
	const size_t size = t->batch.len - before;
	t->left -= size < t->left ? size : t->left;
	if (t->batch.len < FL_BATCH)
		return NULL;
	struct ot_err *err = t->send(t->arg, &t->batch);
	ot_buf_clear(&t->batch);
	return err;
}

static struct ot_err *take_agg(struct fl_gather *g, struct con_agg *agg, struct taking *t)
{
	ot_auto_free bool *keep = calloc(agg->count + 1, sizeof(*keep));
	struct ot_err *err = NULL;
	size_t n = 0;

	if (!keep)
		return ot_err_nomem();
	for (; n < agg->count && t->left && !err; n++)
		err = put(t, agg->entries[n]);
	for (size_t i = n; i < agg->count; i++)
		keep[i] = true;
	con_agg_keep(agg, keep);
	g->nkeys -= n;
	return err;
}

struct ot_err *fl_gather_take(struct fl_gather *g, size_t most,
			      struct ot_err *(*send)(void *arg, const struct ot_buf *batch), void *arg)
{
	struct taking t = { .send = send, .arg = arg, .left = most };
	struct ot_err *err = NULL;

	ot_buf_init(&t.batch);
	for (uint32_t i = 0; i < g->aggs.nvars && t.left && !err; i++)
		if (g->aggs.vars[i].count)
			err = take_agg(g, &g->aggs.vars[i], &t);
	if (!err && t.batch.len)
		err = send(arg, &t.batch);
	ot_buf_deinit(&t.batch);
	return err;
}
