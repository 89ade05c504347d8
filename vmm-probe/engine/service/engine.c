/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creating and destroying an engine. */
#include <stdlib.h>

#include "base/guarded.h"
#include "vmm-probe/engine/service/agent.h"
#include "vmm-probe/engine/service/parts.h"

/* An engine is one allocation, whose address is that of `engine`. */
struct whole {
	struct vp_engine engine;
	struct vp_service service;
};

/* A table that is not NULL has all its required operations. */
static bool are_complete(const struct vp_backend_ops *ops)
{
	const struct vp_backend_counters *c = ops->counters;
	const struct vp_backend_traps *t = ops->traps;
	const struct vp_backend_host *h = ops->host;

	return (!c || (c->slots && c->read)) && (!ops->vm || (ops->vm->stats && ops->vm->stat)) &&
	       (!ops->cpc || ops->cpc->test) && (!ops->ram || (ops->ram->find && ops->ram->let_go)) &&
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
	engine->service->slots.n = ops->counters->slots(engine->backend);
	engine->service->slots.used = calloc(engine->service->slots.n + 1, 1);
	return engine->service->slots.used ? NULL : ot_err_nomem();
}

static struct ot_err *init(struct vp_engine *engine, const struct vp_engine_config *config)
{
	OT_TRY(vp_ram_init(engine, config));
	OT_TRY(init_vcpus(engine));
	return init_slots(engine);
}

struct ot_err *vp_engine_create(const struct vp_engine_config *config, struct vp_engine **ret)
{
	OT_TRY(check_config(config));
	struct whole *whole = calloc(1, sizeof(*whole));
	if (!whole)
		return ot_err_nomem();
	struct vp_engine *engine = &whole->engine;
	engine->service = &whole->service;
	engine->ops = config->ops;
	engine->backend = config->backend;
	engine->service->guest_id = config->guest_id;
	engine->host = config->ops->host != NULL;
	if (config->guest_name)
		strncpy(engine->service->guest_name, config->guest_name,
			sizeof(engine->service->guest_name) - 1);
	ot_guarded_on();
	vp_quiesce_init(engine);
	pthread_mutex_init(&engine->service->modules.lock, NULL);
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
	while (engine->service->nsessions) {
		uint32_t before = engine->service->nsessions;
		struct vp_engine_session *es = engine->service->sessions[before - 1];
		vp_engine_session_close(es);
		if (engine->service->nsessions == before)
			break; /* busy permanently: leak the memory, because a vCPU may still use it */
	}
	if (engine->service->nsessions)
		return;
	vp_agent_stop(engine);
	vp_profile_stop(engine);
	vp_vm_stop(engine);
	vp_semaphores_forget(engine);
	vp_resident_deinit(engine);
	ot_guarded_off();
	pthread_mutex_destroy(&engine->service->modules.lock);
	free(engine->service->slots.used);
	free(engine->early);
	free(engine->vcpus);
	vp_ram_deinit(engine);
	free(OT_CONTAINER_OF(engine, struct whole, engine));
}

bool vp_engine_has_processes(const struct vp_engine *engine)
{
	const struct vp_backend_ops *ops = engine->ops;

	return ops->has_processes && (!ops->traps || ops->traps->kinds(engine->backend) & VP_TRAPS_USER);
}

void vp_engine_memory_changed(struct vp_engine *engine)
{
	__atomic_add_fetch(&engine->mem_gen, 1, __ATOMIC_RELEASE);
}
