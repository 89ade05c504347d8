/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest RAM that may change (struct vp_backend_ram). Clients read it at the addresses of HELLO_REPLY, and
 * vCPUs by gpa_to_host(), so a layout is kept until the last client that received it has gone: memory that
 * the machine has lost meanwhile stays mapped. While there are clients the layout is polled once a second,
 * and a session that began with another one is ended.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/server.h"

#define LOOK_NS 1000000000ull

struct ot_err *vp_ram_init(struct vp_engine *engine, const struct vp_engine_config *config)
{
	struct vp_engine_ram *ram = &engine->service->ram;

	ram->own = calloc(config->nram + 1, sizeof(*ram->own));
	if (!ram->own)
		return ot_err_nomem();
	if (config->nram)
		memcpy(ram->own, config->ram, config->nram * sizeof(*ram->own));
	ram->is = (struct vp_ram_layout){ ram->own, config->ram_fds, config->nram, config->nram_fds, 0 };
	return NULL;
}

void vp_ram_deinit(struct vp_engine *engine)
{
	struct vp_engine_ram *ram = &engine->service->ram;

	if (engine->ops->ram && ram->is.number)
		engine->ops->ram->let_go(engine->backend, 0);
	ot_err_destroy(ram->trouble);
	free(ram->own);
}

static void query(struct vp_engine *engine, bool patient)
{
	struct vp_engine_ram *ram = &engine->service->ram;
	struct vp_ram_layout now;

	ot_err_destroy(ram->trouble);
	ram->trouble = engine->ops->ram->find(engine->backend, patient, &now);
	ram->next_ns = vp_now() + LOOK_NS;
	if (ram->trouble || now.number == ram->is.number)
		return;
	ram->is = now;
	/* From their next access on, vCPUs have no earlier translation; an access in progress ends first. */
	vp_engine_memory_changed(engine);
	vp_quiesce(engine);
}

/* Does a client, or a session that is not closed yet, use another layout than the present one? */
static bool is_another_used(const struct vp_server *s)
{
	const struct vp_service *service = s->engine->service;
	uint64_t now = service->ram.is.number;

	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		if (s->connections[i].greeted && s->connections[i].ram != now)
			return true;
	for (uint32_t i = 0; i < service->nsessions; i++)
		if (service->sessions[i]->service->ram != now)
			return true;
	return false;
}

static bool is_used(const struct vp_server *s)
{
	for (unsigned i = 0; i < VP_CONNECTIONS_MAX; i++)
		if (s->connections[i].greeted)
			return true;
	return s->engine->service->nsessions || vp_semaphores_are_pending(s->engine);
}

/* A reset changes RAM too, before the guest's first instruction reveals it: a session is ended for the change
 * only if the change persists at the next poll. */
static void end_others(struct vp_engine *engine)
{
	struct vp_engine_ram *ram = &engine->service->ram;
	uint64_t now = ram->is.number;

	for (uint32_t i = engine->service->nsessions; ram->ending == now && i-- > 0;) {
		struct vp_engine_session *es = engine->service->sessions[i];
		if (es->service->ram != now)
			vp_engine_session_end(es, VP_GUEST_CHANGED);
	}
	ram->ending = now;
}

bool vp_ram_is_watched(const struct vp_engine *engine)
{
	return engine->ops->ram && engine->service->ram.is.number;
}

void vp_ram_query(struct vp_server *s)
{
	if (s->engine->ops->ram)
		query(s->engine, true);
}

void vp_ram_watch(struct vp_server *s, uint64_t now)
{
	struct vp_engine *engine = s->engine;
	struct vp_engine_ram *ram = &engine->service->ram;

	if (!vp_ram_is_watched(engine) || now < ram->next_ns)
		return;
	if (!is_used(s)) {
		vp_quiesce(engine);
		engine->ops->ram->let_go(engine->backend, 0);
		ram->is = (struct vp_ram_layout){ .number = 0 };
		return;
	}
	query(engine, false);
	end_others(engine);
	if (!is_another_used(s))
		engine->ops->ram->let_go(engine->backend, ram->is.number);
}

struct ot_err *vp_ram_check(const struct vp_engine *engine)
{
	const struct vp_engine_ram *ram = &engine->service->ram;

	if (!engine->ops->ram || ram->is.number)
		return NULL;
	return ot_err_new(ram->trouble ? ot_err_code(ram->trouble) : OT_ERR_BUSY,
			  "the guest's RAM is not known: %s",
			  ram->trouble ? ot_err_message(ram->trouble) : "it was not asked for");
}
