/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The room for trampolines: checks of the data about a kernel before the room is mapped there. */
#include <stdio.h>
#include <stdlib.h>

#include "vmm-probe/engine/hit/walk.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/resident.h"
#include "vmm-probe/trampoline/trampoline.h"

#define PAGE      4096ull
#define BEGINNING 96u /* bytes of a function in which its sentinel is */

static bool is_mapped(const struct vp_engine_session *es, uint64_t gva, uint64_t len)
{
	for (uint64_t page = gva & ~(PAGE - 1); page < gva + len; page += PAGE)
		if (!vp_kernel_host_now(es, page))
			return false;
	return true;
}

/* Trampolines load from these areas without a check of their own. */
static struct ot_err *check_areas(struct vp_engine_session *es)
{
	const struct vp_facts *f = &es->facts;
	const struct vp_resident_facts *r = &f->resident;

	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		uint64_t base = f->percpu_base[i], task;
		if (!base || !is_mapped(es, base + (uint64_t)(int64_t)r->percpu, r->percpu_size))
			return ot_err_new(OT_ERR_UNSUPPORTED, "vCPU %u has no per-CPU area", i);
		if (!vp_load_kernel(es->spare, base + f->current_task, &task, sizeof(task)) ||
		    (r->task_size && !is_mapped(es, task, r->task_size)))
			return ot_err_new(OT_ERR_UNSUPPORTED, "vCPU %u has no running task", i);
	}
	return NULL;
}

static struct ot_err *check_facts(const struct vp_engine_session *es)
{
	const struct vp_facts *f = &es->facts;

	if (!f->kernel_root || !f->resident.image_end || f->current_task == ~0ull)
		return ot_err_new(OT_ERR_UNSUPPORTED, "too little is known of the guest's kernel");
	if (f->resident.percpu_size > 16u << 20 || f->resident.task_size > 64u << 10 ||
	    (int64_t)f->current_task != (int32_t)f->current_task)
		return ot_err_new(OT_ERR_BAD_DATA, "its structures have strange sizes");
	return NULL;
}

static struct ot_err *open_room(struct vp_engine *engine, struct vp_engine_session *es)
{
	struct vp_resident *r = &engine->service->resident;
	const struct vp_resident_kernel kernel = { .root = es->facts.kernel_root,
						   .levels = es->facts.levels,
						   .image_end = es->facts.resident.image_end,
						   .percpu_base = es->facts.percpu_base,
						   .facts = &es->facts,
						   .anyway = es->open.flags & VP_OPEN_RESIDENT_ANYWAY };

	if (!engine->ops->resident)
		return ot_err_new(OT_ERR_UNSUPPORTED, "only guests on KVM have memory for them");
	OT_TRY(check_facts(es));
	OT_TRY(check_areas(es));
	if (!r->compiled)
		r->compiled = malloc(sizeof(*r->compiled));
	if (!r->compiled)
		return ot_err_nomem();
	return engine->ops->resident->open(engine->backend, &kernel, &r->room);
}

/* The sentinel follows the function's nop, in the code at its beginning (provider/sentinels.c). */
static bool has_sentinel(const struct vp_plan *plan, uint64_t function)
{
	for (uint32_t i = 0; i < plan->nsites; i++)
		if (plan->sites[i].sentinel == VP_SENTINEL_ENTER && plan->sites[i].gva - function < BEGINNING)
			return true;
	return false;
}

bool vp_resident_is_watched(const struct vp_plan *plan, const struct vp_facts *facts)
{
	for (uint32_t i = 0; i < VP_WRITERS; i++)
		if (facts->resident.writers[i] && !has_sentinel(plan, facts->resident.writers[i]))
			return false;
	return true;
}

bool vp_resident_has_room(struct vp_engine *engine, struct vp_engine_session *es)
{
	struct vp_resident *r = &engine->service->resident;

	if (r->tried == es->kernel)
		return r->kernel == es->kernel;
	r->tried = es->kernel;
	struct ot_err *err = open_room(engine, es);
	snprintf(r->why, sizeof(r->why), "%s", err ? ot_err_message(err) : "");
	r->kernel = err ? 0 : es->kernel;
	if (!r->data_used)
		r->data_used = VP_RESIDENT_FIRST;
	ot_err_destroy(err);
	return r->kernel != 0;
}

void vp_resident_begin(struct vp_engine_session *es)
{
	struct vp_resident *r = &es->engine->service->resident;

	r->tried = r->kernel;
	if (es->open.flags & VP_OPEN_RESIDENT)
		vp_resident_reclaim(es);
}
