/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An event of a vCPU fires the vm provider's probes. Hit path. */
#include "vmm-probe/engine/hit/vm_event.h"

#include "base/search.h"
#include "vmm-probe/engine/hit/guard.h"
#include "vmm-probe/engine/hit/records.h"

static uint32_t first_of(const struct vp_vm_table *t, uint32_t event)
{
	return (uint32_t)OT_COUNT_BEFORE(t->n, i, t->entries[i].event < event);
}

static void fire(const struct vp_vm_entry *e, struct vp_vcpu_session *v, void *ctx, const uint64_t args[10],
		 uint64_t *clock)
{
	vp_firing_begin(v, ctx, 0, args);
	for (const struct vp_ecb *ecb = e->probe->first; ecb; ecb = ecb->next) {
		if (vp_engine_session_activity(e->es) != VP_ACTIVE)
			break;
		vp_guard_hit(ecb, v->vcpu, 0);
		vp_guard_fire(v, ecb, clock);
	}
	vp_firing_end(v);
}

void vp_engine_vm(struct vp_engine *engine, uint32_t vcpu, uint32_t event, const uint64_t args[10], void *ctx)
{
	if (vcpu >= engine->nvcpus)
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	const struct vp_vm_table *t = __atomic_load_n(&engine->vm, __ATOMIC_ACQUIRE);
	vp_records_drain(engine, vcpu, false);
	uint64_t clock = vp_guard_begin(me);
	for (uint32_t i = t ? first_of(t, event) : 0; t && i < t->n && t->entries[i].event == event; i++) {
		const struct vp_vm_entry *e = &t->entries[i];
		if (vp_engine_session_activity(e->es) == VP_ACTIVE)
			fire(e, &e->es->vcpus[vcpu], ctx, args, &clock);
	}
	vp_vcpu_leave(me);
}
