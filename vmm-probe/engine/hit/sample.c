/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sample fires the profile probes that are due, and those of the vm provider's statistics. An overflow
 * fires the cpc probes on its counter. Hit path. */
#include "vmm-probe/engine/hit/sample.h"

#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/hit/guard.h"
#include "vmm-probe/engine/hit/records.h"
#include "vmm-probe/engine/hit/walk.h"

/* After vp_firing_begin(). */
static void fire_ecbs(const struct vp_enabled_probe *probe, struct vp_vcpu_session *v, uint32_t cost_ns,
		      uint64_t *clock)
{
	vp_load_add(&v->load.outside_ns, cost_ns);
	for (const struct vp_ecb *ecb = probe->first; ecb; ecb = ecb->next) {
		if (vp_engine_session_activity(v->es) != VP_ACTIVE)
			break;
		vp_guard_hit(ecb, v->vcpu, cost_ns);
		vp_guard_fire(v, ecb, clock);
	}
	vp_firing_end(v);
}

/* arg0 or arg1: the guest's program counter, in its kernel or in user code. */
static void set_pc(const struct vp_vcpu_session *v, uint64_t args[10])
{
	args[vp_mode_is_user(vp_reg(v, VP_REG_MODE)) ? 1 : 0] = vp_reg(v, VP_REG_PC);
}

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
		set_pc(v, args);
		args[2] = now > due ? now - due : 0;
	}
	fire_ecbs(e->probe, v, cost_ns, clock);
}

void vp_engine_sample(struct vp_engine *engine, uint32_t vcpu, void *ctx)
{
	if (vcpu >= engine->nvcpus)
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	const struct vp_samples *p = __atomic_load_n(&engine->profile, __ATOMIC_ACQUIRE);
	vp_agent_drain(engine, vcpu, p != NULL);
	vp_records_drain(engine, vcpu, true);
	uint64_t clock = vp_guard_begin(me);
	for (uint32_t i = 0; p && i < p->n; i++) {
		const struct vp_sample_entry *e = &p->entries[i];
		uint64_t due = __atomic_exchange_n(&e->due[vcpu], 0, __ATOMIC_ACQ_REL);
		if (due && vp_engine_session_activity(e->es) == VP_ACTIVE)
			fire(e, &e->es->vcpus[vcpu], ctx, due, p->cost_ns, &clock);
	}
	vp_vcpu_leave(me);
}

/* An exit without a firing is a cost, too. */
static void charge(const struct vp_enabled_probe *probe, struct vp_vcpu_session *v, uint32_t cost_ns)
{
	vp_load_add(&v->load.outside_ns, cost_ns);
	for (const struct vp_ecb *ecb = probe->first; ecb; ecb = ecb->next)
		vp_guard_hit(ecb, v->vcpu, cost_ns);
}

/* The host's kernel does not distinguish the guest's modes when it counts its own events: overflows in the
 * other mode are ignored here. */
static bool is_in_mode(const struct vp_engine *engine, const struct vp_cpc_event *event, void *ctx)
{
	if (event->type != PERF_TYPE_SOFTWARE || event->mode == VP_CPC_ALL)
		return true;
	bool user = vp_mode_is_user(engine->ops->reg(engine->backend, ctx, VP_REG_MODE));
	return user == (event->mode == VP_CPC_USER);
}

void vp_engine_overflow(struct vp_engine *engine, uint32_t vcpu, const struct vp_cpc *cpc, uint64_t missed,
			void *ctx)
{
	if (vcpu >= engine->nvcpus)
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	vp_agent_drain(engine, vcpu, true);
	vp_records_drain(engine, vcpu, false);
	uint64_t clock = vp_guard_begin(me);
	bool fires = is_in_mode(engine, &cpc->event, ctx);
	for (uint32_t i = 0; i < cpc->nprobes; i++) {
		const struct vp_cpc_probe *p = &cpc->probes[i];
		struct vp_vcpu_session *v = &p->es->vcpus[vcpu];
		uint64_t args[10] = { [2] = missed };
		if (vp_engine_session_activity(p->es) != VP_ACTIVE)
			continue;
		if (!fires) {
			charge(p->probe, v, cpc->cost_ns);
			continue;
		}
		vp_firing_begin(v, ctx, 0, args);
		set_pc(v, args);
		fire_ecbs(p->probe, v, cpc->cost_ns, &clock);
	}
	vp_vcpu_leave(me);
}
