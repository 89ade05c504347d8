/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The engine's entry for a hit at a site: its ECBs fire, of each session those that are active. Hit path. */
#include "vmm-probe/engine/hit/agent.h"
#include "vmm-probe/engine/hit/args.h"
#include "vmm-probe/engine/hit/early.h"
#include "vmm-probe/engine/hit/guard.h"
#include "vmm-probe/engine/hit/records.h"
#include "vmm-probe/engine/hit/stand_in.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

/* Is the vCPU at the session's site, and does this probe fire there? All ECBs of a hit are at one place. For
 * most hits of a stand-in the process has its own probe, and the file need not be determined. */
static bool is_there(struct vp_vcpu_session *v, const struct vp_site *site, const struct vp_ecb *ecb)
{
	const struct vp_enabled_probe *probe = v->at->probe;

	if (!probe->file)
		return !probe->process.pid || vp_in_process(v, &probe->process);
	if (probe->stands_in && vp_has_own(v, site, ecb))
		return false;
	if (!v->file_known)
		v->in_file = vp_in_file(v, v->site_gva, probe->file, v->at->gva);
	v->file_known = true;
	return v->in_file;
}

/* A site in a file has a different address in each process. */
static uint64_t address_of(const struct vp_engine *engine, const struct vp_site *site, void *ctx)
{
	return site->file ? engine->ops->reg(engine->backend, ctx, VP_REG_PC) : site->gva;
}

/* A vCPU's task does not change during a hit: data that one session has read about it need not be read again
 * for others, unless their facts are of another kernel. Those come second, if there are any. */
static void share_task(struct vp_vcpu *me, struct vp_vcpu_session *v)
{
	struct vp_running *r = &me->running;

	if (r->hit != me->seq) {
		r->hit = me->seq;
		r->kernel = v->es->kernel;
		r->known = 0;
	}
	if (ot_likely(r->kernel == v->es->kernel))
		v->running = r;
}

/* The engine's own: any session of the plan can read the guest. */
static void note_mapping(const struct vp_site *site, uint32_t vcpu, void *ctx)
{
	struct vp_vcpu_session *v = &site->es->vcpus[vcpu];

	if (vp_engine_session_activity(site->es) != VP_ACTIVE)
		return;
	vp_firing_begin(v, ctx, site->gva, NULL);
	vp_early_mapped(v, site->plan, vp_reg(v, VP_REG_ARG0));
	vp_firing_end(v);
}

void vp_engine_hit(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *site, void *ctx)
{
	struct vp_vcpu_session *entered = NULL;

	if (ot_unlikely(vcpu >= engine->nvcpus))
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	if (ot_unlikely(__atomic_load_n(&engine->agent, __ATOMIC_ACQUIRE) != NULL)) {
		/* Events inside the guest until now precede this hit. */
		vp_agent_drain(engine, vcpu, site->necbs);
		if (site->agent & VP_AGENT_CALL_MARK)
			vp_agent_mark(engine);
	}
	if (ot_unlikely(__atomic_load_n(&engine->records, __ATOMIC_ACQUIRE) != NULL))
		vp_records_drain(engine, vcpu, false); /* those precede it too */
	if (ot_unlikely(site->sentinel == VP_SENTINEL_MAPS))
		note_mapping(site, vcpu, ctx);
	uint64_t clock = vp_guard_begin(me);
	for (uint32_t i = 0; i < site->necbs; i++) {
		const struct vp_ecb *ecb = site->ecbs[i];
		if (vp_engine_session_activity(ecb->es) != VP_ACTIVE)
			continue;
		struct vp_vcpu_session *v = &ecb->es->vcpus[vcpu];
		if (v->hit != me->seq) {
			v->hit = me->seq;
			v->chain = entered;
			entered = v;
			vp_firing_begin(v, ctx, address_of(engine, site, ctx), NULL);
			share_task(me, v);
			vp_load_add(&v->load.outside_ns, site->cost_ns);
		}
		vp_guard_hit(ecb, vcpu, site->cost_ns);
		vp_firing_at(v, site->enabled[i]);
		if (v->at->syscall && !vp_in_syscall(v, v->at->syscall))
			continue;
		if (!is_there(v, site, ecb))
			continue;
		vp_guard_fire(v, ecb, &clock);
	}
	for (; entered; entered = entered->chain)
		vp_firing_end(entered);
	vp_vcpu_leave(me);
}

/* A session's ECBs are adjacent: a hit's cost is charged to the session once, and to each of its ECBs, which
 * share it. */
void vp_engine_charge(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *site, uint64_t ns)
{
	const struct vp_engine_session *charged = NULL;

	if (vcpu >= engine->nvcpus)
		return;
	vp_vcpu_enter(&engine->vcpus[vcpu]);
	for (uint32_t i = 0; i < site->necbs; i++) {
		const struct vp_ecb *ecb = site->ecbs[i];
		if (vp_engine_session_activity(ecb->es) != VP_ACTIVE)
			continue;
		if (ecb->es != charged)
			vp_load_add(&ecb->es->vcpus[vcpu].load.outside_ns, ns);
		charged = ecb->es;
		vp_guard_hit(ecb, vcpu, ns);
	}
	vp_vcpu_leave(&engine->vcpus[vcpu]);
}

/* As in vp_engine_hit(): the session is charged once, each of its ECBs completely, because each alone would
 * have cost that. */
static void charge_site(struct vp_vcpu *me, uint32_t vcpu, const struct vp_site *site)
{
	for (uint32_t i = 0; i < site->necbs; i++) {
		const struct vp_ecb *ecb = site->ecbs[i];
		if (vp_engine_session_activity(ecb->es) != VP_ACTIVE)
			continue;
		struct vp_vcpu_session *v = &ecb->es->vcpus[vcpu];
		if (v->hit != me->seq)
			vp_load_add(&v->load.outside_ns, site->cost_ns);
		v->hit = me->seq;
		vp_guard_hit(ecb, vcpu, site->cost_ns);
	}
}

void vp_engine_pass(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *const *sites, uint32_t n)
{
	if (vcpu >= engine->nvcpus)
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	for (uint32_t i = 0; i < n; i++)
		charge_site(me, vcpu, sites[i]);
	vp_vcpu_leave(me);
}

void vp_engine_visit(struct vp_engine *engine, uint32_t vcpu)
{
	if (vcpu >= engine->nvcpus)
		return;
	vp_vcpu_enter(&engine->vcpus[vcpu]);
	vp_agent_drain(engine, vcpu, false);
	vp_records_drain(engine, vcpu, true);
	vp_vcpu_leave(&engine->vcpus[vcpu]);
}
