/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample fires the profile probes that are due, and those of the vm provider's statistics. Hit path. */
#include "vmm-probe/engine/hit/sample.h"

#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/hit/guard.h"
#include "vmm-probe/engine/hit/walk.h"

static void fire(const struct vp_sample_entry *e, struct vp_vcpu_session *v, void *ctx, uint64_t due,
		 uint32_t cost_ns, uint64_t *clock)
{
	uint64_t now = vp_now(), args[10] = { 0 };

	vp_firing_begin(v, ctx, 0, args);
	if (e->stats) {
		args[1] = vp_sample_stat(v->es->engine, e, v->vcpu);
		args[0] = args[1] - e->stats[v->vcpu];
		e->stats[v->vcpu] = args[1];
	} else {
		args[vp_mode_is_user(vp_reg(v, VP_REG_MODE)) ? 1 : 0] = vp_reg(v, VP_REG_PC);
		args[2] = now > due ? now - due : 0;
	}
	vp_load_add(&v->load.outside_ns, cost_ns);
	for (const struct vp_ecb *ecb = e->probe->first; ecb; ecb = ecb->next) {
		if (vp_engine_session_activity(e->es) != VP_ACTIVE)
			break;
		vp_guard_hit(ecb, v->vcpu, cost_ns);
		vp_guard_fire(v, ecb, clock);
	}
	vp_firing_end(v);
}

void vp_engine_sample(struct vp_engine *engine, uint32_t vcpu, void *ctx)
{
	if (vcpu >= engine->nvcpus)
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	const struct vp_samples *p = __atomic_load_n(&engine->profile, __ATOMIC_ACQUIRE);
	vp_agent_drain(engine, vcpu, p != NULL);
	uint64_t clock = vp_guard_begin(me);
	for (uint32_t i = 0; p && i < p->n; i++) {
		const struct vp_sample_entry *e = &p->entries[i];
		uint64_t due = __atomic_exchange_n(&e->due[vcpu], 0, __ATOMIC_ACQ_REL);
		if (due && vp_engine_session_activity(e->es) == VP_ACTIVE)
			fire(e, &e->es->vcpus[vcpu], ctx, due, p->cost_ns, &clock);
	}
	vp_vcpu_leave(me);
}
