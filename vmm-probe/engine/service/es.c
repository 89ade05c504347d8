/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks over a session's probes, and over those of all sessions in the plan. */
#include "vmm-probe/engine/service/es.h"

bool vp_next_probe(const struct vp_es *es, struct vp_probe_walk *w)
{
	if (w->batch)
		w->index++;
	else
		w->batch = es->service->batches.first;
	while (w->batch && w->index == w->batch->nprobes) {
		w->batch = w->batch->next;
		w->index = 0;
	}
	w->probe = w->batch ? &w->batch->probes[w->index] : NULL;
	return w->probe != NULL;
}

bool vp_next_planned(const struct vp_engine *engine, struct vp_probe_walk *w)
{
	const struct vp_service *s = engine->service;

	while (!w->es || !w->es->service->planned || !vp_next_probe(w->es, w)) {
		if (w->session == s->nsessions)
			return false;
		*w = (struct vp_probe_walk){ .es = s->sessions[w->session], .session = w->session + 1 };
	}
	return true;
}

bool vp_any_in(const struct vp_probe_rt *probe)
{
	const struct vp_ecb *e = probe->first;

	while (e && e->out)
		e = e->next;
	return e != NULL;
}
