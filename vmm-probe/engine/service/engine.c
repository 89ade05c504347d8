/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An engine's life, and the two ways in which a backend enters it. */
#include <stdlib.h>

#include "vmm-probe/engine/internal.h"

/* A table that is there has all that is required of it. */
static bool are_complete(const struct vp_backend_ops *ops)
{
	const struct vp_backend_counters *c = ops->counters;
	const struct vp_backend_traps *t = ops->traps;
	const struct vp_backend_host *h = ops->host;

	return (!c || (c->slots && c->read)) && (!ops->vm || (ops->vm->stats && ops->vm->stat)) &&
	       (!t || (t->kinds && t->patches && t->sweep && t->patching && t->held_ns)) &&
	       (!h || (h->scalar && h->string && h->progenyof));
}

static struct ot_err *check_config(const struct vp_engine_config *config)
{
	const struct vp_backend_ops *ops = config->ops;

	if (!ops || !ops->name || !ops->reg || !ops->gpa_to_host || !ops->install || !ops->snapshot ||
	    !ops->nvcpus || !are_complete(ops))
		return ot_err_new(OT_ERR_INTERNAL, "a backend lacks a required operation");
	return NULL;
}

static struct ot_err *init_ram(struct vp_engine *engine, const struct vp_engine_config *config)
{
	engine->ram = calloc(config->nram + 1, sizeof(*engine->ram));
	if (!engine->ram)
		return ot_err_nomem();
	if (config->nram)
		memcpy(engine->ram, config->ram, config->nram * sizeof(*engine->ram));
	engine->nram = config->nram;
	engine->ram_fds = config->ram_fds;
	engine->nram_fds = config->nram_fds;
	return NULL;
}

static struct ot_err *init_vcpus(struct vp_engine *engine)
{
	engine->nvcpus = engine->ops->nvcpus(engine->backend);
	if (!engine->nvcpus || engine->nvcpus > VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%u vCPUs: an engine can have 1 to %u", engine->nvcpus,
				  VP_VCPUS_MAX);
	engine->vcpus = aligned_alloc(64, engine->nvcpus * sizeof(*engine->vcpus));
	if (!engine->vcpus)
		return ot_err_nomem();
	for (uint32_t i = 0; i < engine->nvcpus; i++)
		engine->vcpus[i] =
		    (struct vp_vcpu){ .engine = engine, .until_timed = 1, .every = 1, .random = i + 1 };
	return NULL;
}

static struct ot_err *init_slots(struct vp_engine *engine)
{
	const struct vp_backend_ops *ops = engine->ops;

	if (!ops->counters)
		return NULL;
	engine->nslots = ops->counters->slots(engine->backend);
	engine->slot_used = calloc(engine->nslots + 1, 1);
	return engine->slot_used ? NULL : ot_err_nomem();
}

static struct ot_err *init(struct vp_engine *engine, const struct vp_engine_config *config)
{
	OT_TRY(init_ram(engine, config));
	OT_TRY(init_vcpus(engine));
	return init_slots(engine);
}

struct ot_err *vp_engine_create(const struct vp_engine_config *config, struct vp_engine **ret)
{
	OT_TRY(check_config(config));
	struct vp_engine *engine = calloc(1, sizeof(*engine));
	if (!engine)
		return ot_err_nomem();
	engine->ops = config->ops;
	engine->backend = config->backend;
	engine->guest_id = config->guest_id;
	engine->host = config->ops->host != NULL;
	if (config->guest_name)
		strncpy(engine->guest_name, config->guest_name, sizeof(engine->guest_name) - 1);
	vp_quiesce_init(engine);
	struct ot_err *err = init(engine, config);
	if (err) {
		vp_engine_destroy(engine);
		return err;
	}
	*ret = engine;
	return NULL;
}

/* The server first (its sessions close with it), then sessions that were opened directly. */
void vp_engine_destroy(struct vp_engine *engine)
{
	if (!engine)
		return;
	vp_server_stop(engine);
	while (engine->nsessions) {
		uint32_t before = engine->nsessions;
		struct vp_es *es = engine->sessions[before - 1];
		vp_es_close(es);
		if (engine->nsessions == before)
			break; /* busy for good: leave memory behind rather than pull it from under a vCPU */
	}
	if (engine->nsessions)
		return;
	vp_agent_stop(engine);
	vp_profile_stop(engine);
	vp_vm_stop(engine);
	free(engine->slot_used);
	free(engine->vcpus);
	free(engine->ram);
	free(engine);
}

void vp_engine_memory_changed(struct vp_engine *engine)
{
	__atomic_add_fetch(&engine->mem_gen, 1, __ATOMIC_RELEASE);
}

void vp_engine_hit(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *site, void *ctx)
{
	struct vp_es_vcpu *entered = NULL;

	if (ot_unlikely(vcpu >= engine->nvcpus))
		return;
	struct vp_vcpu *me = &engine->vcpus[vcpu];
	vp_vcpu_enter(me);
	if (ot_unlikely(__atomic_load_n(&engine->agent, __ATOMIC_ACQUIRE) != NULL)) {
		/* What happened inside until now happened before this. */
		vp_agent_drain(engine, vcpu, site->necbs);
		if (site->agent & VP_AGENT_CALL_MARK)
			vp_agent_mark(engine);
	}
	uint64_t clock = vp_guard_begin(me);
	for (uint32_t i = 0; i < site->necbs; i++) {
		const struct vp_ecb *ecb = site->ecbs[i];
		if (vp_es_activity(ecb->es) != VP_ACTIVE)
			continue;
		struct vp_es_vcpu *v = &ecb->es->vcpus[vcpu];
		if (v->hit != me->seq) {
			v->hit = me->seq;
			v->chain = entered;
			entered = v;
			vp_firing_begin(v, ctx, site->gva, NULL);
			vp_load_add(&v->load.outside_ns, site->cost_ns);
		}
		vp_guard_hit(ecb, vcpu, site->cost_ns);
		if (site->syscalls[i] && !vp_in_syscall(v, site->syscalls[i]))
			continue;
		vp_guard_fire(v, ecb, &clock);
	}
	for (; entered; entered = entered->chain)
		vp_firing_end(entered);
	vp_vcpu_leave(me);
}

/* A session's ECBs stand side by side: what its hit cost is counted once, and to each of them as they share
 * it.
 */
void vp_engine_charge(struct vp_engine *engine, uint32_t vcpu, const struct vp_site *site, uint64_t ns)
{
	const struct vp_es *charged = NULL;

	if (vcpu >= engine->nvcpus)
		return;
	vp_vcpu_enter(&engine->vcpus[vcpu]);
	for (uint32_t i = 0; i < site->necbs; i++) {
		const struct vp_ecb *ecb = site->ecbs[i];
		if (vp_es_activity(ecb->es) != VP_ACTIVE)
			continue;
		if (ecb->es != charged)
			vp_load_add(&ecb->es->vcpus[vcpu].load.outside_ns, ns);
		charged = ecb->es;
		vp_guard_hit(ecb, vcpu, ns);
	}
	vp_vcpu_leave(&engine->vcpus[vcpu]);
}

void vp_engine_visit(struct vp_engine *engine, uint32_t vcpu)
{
	if (vcpu >= engine->nvcpus)
		return;
	vp_vcpu_enter(&engine->vcpus[vcpu]);
	vp_agent_drain(engine, vcpu, false);
	vp_vcpu_leave(&engine->vcpus[vcpu]);
}
