/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Giving the room back, whole: once nothing uses it, and no task is in it (engine/room.h). */
#include <time.h>

#include "vmm-probe/engine/room.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/records.h"
#include "vmm-probe/engine/service/resident.h"

#define TRIES      8u
#define BETWEEN_NS 3000000

struct search {
	struct vp_engine *engine;
	struct vp_room_search room;
	bool clear;
};

/* All vCPUs are held. */
static void search(void *arg)
{
	static struct vp_regs regs[VP_VCPUS_MAX]; /* the service thread's */
	struct search *s = arg;
	const struct vp_engine *e = s->engine;
	uint32_t n = e->ops->nvcpus(e->backend);

	s->clear = n <= VP_VCPUS_MAX && e->ops->resident->regs(e->backend, regs, VP_VCPUS_MAX) == n &&
		   vp_room_is_empty(&s->room, regs, n);
}

/* --- when ------------------------------------------------------------------------------------------ */

/* Nothing leads there, and nothing is counted there any more. */
static bool is_unused(const struct vp_service *service)
{
	const struct vp_plan *plan = service->plan; /* in force */

	for (uint32_t i = 0; plan && i < plan->nsites; i++)
		if (plan->sites[i].jump)
			return false;
	for (uint32_t i = 0; i < service->nsessions; i++)
		if (service->sessions[i]->service->resident.words ||
		    service->sessions[i]->service->resident.tables ||
		    service->sessions[i]->service->resident.has_slots)
			return false;
	return true;
}

static bool is_half_full(const struct vp_resident *r)
{
	uint64_t ring = r->ring.count ? r->room.data_size - r->ring.at : 0;

	return vp_resident_code_left(r) < r->room.code_size / 2 ||
	       r->data_used > (r->room.data_size - ring) / 2;
}

void vp_resident_reclaim(struct vp_engine_session *es)
{
	struct vp_engine *engine = es->engine;
	struct vp_resident *r = &engine->service->resident;
	struct search s = { .engine = engine,
			    .room = { .facts = &es->facts,
				      .gpa_to_host = engine->ops->gpa_to_host,
				      .backend = engine->backend,
				      .from = r->room.code_gva,
				      .size = r->room.code_size } };

	if (!r->room.code || !(is_half_full(r) || vp_records_would_grow(r, es)) ||
	    !is_unused(engine->service) || !vp_room_can_search(&es->facts) || !engine->ops->exclusive ||
	    !engine->ops->resident->regs)
		return;
	/* The tasks of a kernel that ran before are gone with it. */
	for (uint32_t i = 0; i < TRIES && !s.clear; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = BETWEEN_NS }, NULL);
		if (!engine->ops->exclusive(engine->backend, search, &s))
			return;
	}
	if (!s.clear)
		return; /* the room that is left will do, or the next session tries again */
	vp_records_close(engine);
	r->nsites = 0; /* of a plan that could not be installed */
	r->code_used = r->keys_used = 0;
	r->data_used = VP_RESIDENT_FIRST;
}
