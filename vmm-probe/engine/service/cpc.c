/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cpc provider's probes: counters of the vCPUs' threads, which the backend manages. All probes on one
 * event share a counter, also across sessions. The list is part of the plan, and as immutable.
 */
#include <stdlib.h>

#include "vmm-probe/engine/hit/sample.h"
#include "vmm-probe/engine/service/parts.h"

/* A list is one allocation: the counters, then the probes of each. */

static bool is_planned(const struct vp_probe_walk *w)
{
	return w->probe->kind == VP_PROBE_CPC && vp_any_in(w->probe);
}

/* The index of @event, appended if it is new; VP_CPC_MAX: there is no room for it. */
static uint32_t index_of(struct vp_cpc *list, uint32_t *n, const struct vp_cpc_event *event)
{
	for (uint32_t i = 0; i < *n; i++)
		if (vp_cpc_is_same(&list[i].event, event))
			return i;
	if (*n < VP_CPC_MAX)
		list[(*n)++] = (struct vp_cpc){ .event = *event };
	else
		return VP_CPC_MAX;
	return *n - 1;
}

/* The number of counters, and of probes on each. */
static struct ot_err *count(const struct vp_engine *engine, struct vp_cpc list[VP_CPC_MAX], uint32_t *ret_n)
{
	vp_each_planned(w, engine) {
		if (!is_planned(&w))
			continue;
		uint32_t i = index_of(list, ret_n, &w.probe->cpc);
		if (i == VP_CPC_MAX)
			return ot_err_new(OT_ERR_LIMIT, "cpc probes on more than %u different events at once",
					  VP_CPC_MAX);
		list[i].nprobes++;
	}
	return NULL;
}

struct ot_err *vp_cpc_plan(const struct vp_engine *engine, struct vp_cpc **ret, uint32_t *ret_n)
{
	struct vp_cpc list[VP_CPC_MAX] = { 0 };
	uint32_t n = 0, all = 0;

	*ret = NULL;
	*ret_n = 0;
	OT_TRY(count(engine, list, &n));
	if (!n)
		return NULL;
	for (uint32_t i = 0; i < n; i++)
		all += list[i].nprobes;
	struct vp_cpc *cpcs = calloc(1, n * sizeof(*cpcs) + all * sizeof(*cpcs->probes));
	if (!cpcs)
		return ot_err_nomem();
	struct vp_cpc_probe *at = (struct vp_cpc_probe *)(cpcs + n);
	for (uint32_t i = 0; i < n; i++) {
		cpcs[i] = (struct vp_cpc){ .event = list[i].event, .probes = at };
		cpcs[i].cost_ns =
		    engine->ops->hit_cost_ns ? engine->ops->hit_cost_ns(engine->backend, NULL) : 0;
		at += list[i].nprobes;
	}
	vp_each_planned(w, engine) {
		if (!is_planned(&w))
			continue;
		struct vp_cpc *c = &cpcs[index_of(list, &n, &w.probe->cpc)];
		c->probes[c->nprobes++] = (struct vp_cpc_probe){ w.es, w.probe };
	}
	*ret = cpcs;
	*ret_n = n;
	return NULL;
}

void vp_cpc_free(struct vp_cpc *cpcs)
{
	free(cpcs);
}
