/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session in an engine, once it is open: start, switch, stop, close. */
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/service/agent.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/records.h"

static void set_activity(struct vp_engine_session *es, enum vp_activity to)
{
	__atomic_store_n(&es->activity, to, __ATOMIC_RELEASE);
}

/* Update plan and timers to the sessions' enablings. */
static struct ot_err *apply(struct vp_engine *engine)
{
	OT_TRY(vp_replan(engine));
	vp_semaphores_update(engine);
	OT_TRY(vp_profile_update(engine));
	OT_TRY(vp_vm_update(engine));
	return vp_agent_update(engine);
}

struct ot_err *vp_engine_session_start(struct vp_engine_session *es)
{
	struct vp_engine *engine = es->engine;

	if (es->activity != VP_INACTIVE)
		return ot_err_new(OT_ERR_BUSY, "the session has been started already");
	if (es->service->guest_end)
		return ot_err_new(OT_ERR_GUEST_GONE, "the guest has ended");
	es->service->planned = true;
	vp_resident_begin(es);
	struct ot_err *err = vp_replan(engine);
	if (err) {
		es->service->planned = false;
		return err;
	}
	if (engine->ops->traps)
		engine->ops->traps->patching(engine->backend, &es->service->patched_before);
	es->since_ns = vp_now();
	vp_buffer_stamp_start(es, es->since_ns);
	es->service->modules_seen = es->service->modules_reported = engine->service->modules.handled;
	set_activity(es, VP_ACTIVE);
	vp_counters_base(es);
	vp_resident_base(es);
	vp_semaphores_update(engine);
	err = vp_profile_update(engine);
	if (!err)
		err = vp_vm_update(engine);
	if (!err)
		err = vp_agent_update(engine);
	if (err)
		ot_err_destroy(vp_engine_session_stop(es));
	return err;
}

struct ot_err *vp_engine_session_stop(struct vp_engine_session *es)
{
	if (es->activity == VP_INACTIVE || es->activity == VP_STOPPED)
		return NULL;
	vp_agent_flush(es->engine);
	if (es->service->resident.has_slots)
		vp_records_flush(es->engine);
	set_activity(es, VP_STOPPED);
	vp_modules_recount(es->engine);
	vp_counters_collect(es);
	es->service->planned = false;
	struct ot_err *err = apply(es->engine);
	vp_quiesce(es->engine);
	if (!err || ot_err_code(err) != OT_ERR_BUSY)
		return err;
	/* A paused guest executes no site either; they are removed as soon as possible. */
	ot_err_destroy(err);
	return NULL;
}

/* Its kernel and processes are unchanged, and only the engine is removed. */
static bool runs_on(enum vp_guest_end how)
{
	return how == VP_GUEST_DETACHED || how == VP_GUEST_SAVED || how == VP_GUEST_CHANGED;
}

void vp_engine_session_end(struct vp_engine_session *es, enum vp_guest_end how)
{
	if (es->service->closing || es->service->guest_end)
		return;
	es->service->guest_end = how;
	ot_err_destroy(vp_engine_session_stop(es)); /* sites of a kernel that has ended: nothing is lost */
	/* the engine may end before the next exchange is requested */
	if (es->activity == VP_STOPPED) {
		vp_counters_fold(es, true);
		vp_resident_fold(es, true);
	}
	__atomic_store_n(&es->vcpus[0].status->guest_end, how, __ATOMIC_RELEASE);
}

void vp_engine_report_end(struct vp_engine *engine)
{
	enum vp_guest_end how =
	    __atomic_exchange_n(&engine->service->guest_end, VP_GUEST_RUNS, __ATOMIC_ACQ_REL);

	if (how == VP_GUEST_RUNS)
		return;
	if (!runs_on(how))
		vp_semaphores_forget(engine);
	for (uint32_t i = 0; i < engine->service->nsessions; i++)
		vp_engine_session_end(engine->service->sessions[i], how);
}

/* With RING and FILL, data is handed over once, at the end. */
static bool may_switch(const struct vp_engine_session *es)
{
	return es->open.bufpolicy == VP_BUF_SWITCH || es->service->ended ||
	       vp_engine_session_activity(es) != VP_ACTIVE;
}

static void read_patching(const struct vp_engine_session *es, struct vp_patching *ret)
{
	const struct vp_patching *before = &es->service->patched_before;
	struct vp_patching now = { 0 };

	ret->lost = es->service->lost;
	if (!es->engine->ops->traps || es->activity == VP_INACTIVE)
		return;
	es->engine->ops->traps->patching(es->engine->backend, &now);
	*ret = (struct vp_patching){ now.windows - before->windows, now.out_ns - before->out_ns,
				     now.lost - before->lost + es->service->lost };
}

/* Before the halves are exchanged: what is drained later is in the next ones. */
static uint64_t covered_until(const struct vp_engine *engine, uint64_t now)
{
	return vp_records_covered(engine, vp_agent_covered(engine, now));
}

static struct ot_err *answer(struct vp_engine_session *es, bool exchange, struct vp_msg_switch_reply *ret)
{
	struct vp_msg_switch_reply reply = {
		.head = { VP_MSG_SWITCH_REPLY, sizeof(reply) },
	};
	uint64_t exit, now;

	if (es->engine->service->replan)
		vp_engine_retry(es->engine);
	if (exchange && may_switch(es)) {
		if (es->service->planned)
			vp_counters_collect(es);
		vp_spec_poll(es);
		now = vp_now();
		reply.now_ns = covered_until(es->engine, now);
		vp_buffers_switch(es, now);
		vp_counters_fold(es, false);
		vp_resident_fold(es, false);
		vp_spec_clean(es, now);
	} else {
		reply.now_ns = covered_until(es->engine, vp_now());
	}
	read_patching(es, &reply.patching);
	exit = __atomic_load_n(&es->exit_pending, __ATOMIC_ACQUIRE);
	reply.exit_called = exit != 0;
	reply.exit_status = exit ? (uint32_t)(exit - 1) : 0;
	reply.flags |= es->engine->service->replan ? VP_SWITCH_PAUSED : 0;
	reply.flags |= vp_agent_gone(es) ? VP_SWITCH_AGENT_GONE : 0;
	reply.agent_bound_ns = vp_agent_bound(es, &reply.agent_tsc, &reply.agent_ns);
	reply.flags |= __atomic_load_n(&es->filled, __ATOMIC_ACQUIRE) ? VP_SWITCH_FILLED : 0;
	reply.overload = es->service->overload;
	es->service->overload = (struct vp_overload){ 0 };
	*ret = reply;
	return NULL;
}

struct ot_err *vp_engine_session_switch(struct vp_engine_session *es, struct vp_msg_switch_reply *ret)
{
	return answer(es, true, ret);
}

struct ot_err *vp_engine_session_poll(struct vp_engine_session *es, struct vp_msg_switch_reply *ret)
{
	return answer(es, false, ret);
}

static void unlink_es(struct vp_engine_session *es)
{
	struct vp_engine *engine = es->engine;
	uint32_t i = 0;

	while (engine->service->sessions[i] != es)
		i++;
	engine->service->nsessions--;
	memmove(&engine->service->sessions[i], &engine->service->sessions[i + 1],
		(engine->service->nsessions - i) * sizeof(engine->service->sessions[0]));
}

/* The caller frees the shared memory after this. A busy backend's plan may still name our ECBs: then their
 * memory stays until the backend has released it (vp_engine_retry()), but no ECB fires any more. */
void vp_engine_session_close(struct vp_engine_session *es)
{
	if (!es)
		return;
	struct vp_engine *engine = es->engine;
	set_activity(es, VP_STOPPED);
	vp_modules_recount(engine);
	es->service->planned = false;
	es->service->closing = true;
	struct ot_err *err = apply(engine);
	vp_quiesce(engine);
	if (err) {
		ot_err_destroy(err);
		return;
	}
	unlink_es(es);
	vp_engine_session_free(es);
}

void vp_engine_retry(struct vp_engine *engine)
{
	struct ot_err *err = apply(engine);

	if (err) {
		ot_err_destroy(err);
		return;
	}
	for (uint32_t i = engine->service->nsessions; i-- > 0;) {
		struct vp_engine_session *es = engine->service->sessions[i];
		if (!es->service->closing)
			continue;
		unlink_es(es);
		vp_engine_session_free(es);
	}
}

/* --- firing by hand --------------------------------------------------------------------------- */

/* After exit() in BEGIN, later BEGIN clauses do not run; END's all run. */
static bool fire_probe(struct vp_vcpu_session *v, const struct vp_enabled_probe *probe)
{
	for (const struct vp_ecb *e = probe->first; e; e = e->next) {
		vp_fire_ecb(v, e);
		if (v->exited && probe->id != DIF_PROBE_END)
			return false;
	}
	return true;
}

bool vp_engine_session_fire(struct vp_engine_session *es, uint32_t probe_id, const uint64_t args[10])
{
	struct vp_vcpu_session *v = &es->vcpus[0];

	if (probe_id == DIF_PROBE_END)
		es->service->ended = true;
	vp_vcpu_enter(&es->engine->vcpus[0]);
	vp_firing_begin(v, NULL, 0, args);
	vp_each_probe(w, es)
		if (w.probe->id == probe_id && w.probe->kind != VP_PROBE_SITE && !fire_probe(v, w.probe))
			break;
	vp_firing_end(v);
	bool go_on = !v->exited;
	vp_vcpu_leave(&es->engine->vcpus[0]);
	return go_on;
}
