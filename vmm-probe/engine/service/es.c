/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks over a session's probes, and over those of all sessions in the plan. */
#include "vmm-probe/engine/service/engine_session.h"

bool vp_next_batch(const struct vp_engine_session *es, struct vp_probe_walk *w)
{
	do
		w->batch = w->batch ? w->batch->next : es->service->batches.first;
	while (w->batch && !w->batch->nprobes);
	if (!w->batch)
		return false;
	w->probe = w->batch->probes;
	w->left = w->batch->nprobes - 1;
	return true;
}

bool vp_next_planned_batch(const struct vp_engine *engine, struct vp_probe_walk *w)
{
	const struct vp_service *s = engine->service;

	while (!w->es || !w->es->service->planned || !vp_next_batch(w->es, w)) {
		if (w->session == s->nsessions)
			return false;
		*w = (struct vp_probe_walk){ .es = s->sessions[w->session], .session = w->session + 1 };
	}
	return true;
}

bool vp_any_in(const struct vp_enabled_probe *probe)
{
	const struct vp_ecb *e = probe->first;

	while (e && e->out)
		e = e->next;
	return e != NULL;
}
