/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inline counters. A clause that is only `@[constant] = count()` costs its vCPU one add in translated code
 * (or less) and no hit; the service thread reads the counters and adds their increments to the aggregation
 * halves before it hands those over.
 *
 * ECBs whose key is the same share one slot, so `fbt:::entry { @ = count(); }` takes one slot for all of a
 * kernel; a key that depends on the probe takes one an ECB, while the backend has any.
 */
#include <stdlib.h>

#include "vmm-probe/engine/service/parts.h"

/* The counter that all of a clause's ECBs share. */
static struct vp_counter **shared_counter(struct vp_engine_session *es, const struct vp_ecb *ecb)
{
	return &es->service->clauses[ecb->clause - es->service->clauses].counter;
}

static bool take_slot(struct vp_engine *engine, uint32_t *ret)
{
	uint32_t i = engine->service->slots.hint;

	for (uint32_t n = 0; n < engine->service->slots.n; n++, i++) {
		i = i < engine->service->slots.n ? i : 0;
		if (engine->service->slots.used[i])
			continue;
		engine->service->slots.used[i] = 1;
		engine->service->slots.hint = i + 1;
		engine->service->slots.nused++;
		*ret = i;
		return true;
	}
	return false;
}

static uint64_t read_slot(const struct vp_engine *engine, uint32_t slot, uint32_t vcpu)
{
	return engine->ops->counters->read(engine->backend, slot, vcpu);
}

static void set_base(const struct vp_engine_session *es, struct vp_counter *c)
{
	for (uint32_t i = 0; i < es->open.nvcpus; i++)
		c->last[i] = read_slot(es->engine, c->slot, i);
}

struct ot_err *vp_counter_assign(struct vp_engine_session *es, struct vp_ecb *ecb)
{
	struct vp_engine *engine = es->engine;
	uint32_t nvcpus = es->open.nvcpus;

	if (!ecb->clause->counts_only || ecb->probe->kind != VP_PROBE_SITE || es->open.only_cpu)
		return NULL;
	if (engine->ops->counters && engine->ops->counters->guest_can_raise &&
	    es->open.flags & VP_OPEN_EACH_HIT)
		return NULL;
	bool shared = !ecb->clause->counts_per_probe;
	if (shared && *shared_counter(es, ecb)) {
		ecb->counter = *shared_counter(es, ecb);
		return NULL;
	}
	if (engine->service->slots.nused == engine->service->slots.n)
		return NULL; /* this ECB fires instead */
	struct vp_counter *c = calloc(1, sizeof(*c) + 2ull * nvcpus * sizeof(uint64_t));
	if (!c)
		return ot_err_nomem();
	if (!take_slot(engine, &c->slot)) {
		free(c);
		return NULL;
	}
	c->ecb = ecb;
	c->last = (uint64_t *)(c + 1);
	c->pending = c->last + nvcpus;
	c->next = es->service->counters;
	es->service->counters = c;
	ecb->counter = c;
	if (shared)
		*shared_counter(es, ecb) = c;
	set_base(es, c); /* of a batch added while the session is active; else set again at start */
	return NULL;
}

void vp_counters_base(struct vp_engine_session *es)
{
	for (struct vp_counter *c = es->service->counters; c; c = c->next)
		set_base(es, c);
}

void vp_counters_collect(struct vp_engine_session *es)
{
	for (struct vp_counter *c = es->service->counters; c; c = c->next)
		for (uint32_t i = 0; i < es->open.nvcpus; i++) {
			uint64_t now = read_slot(es->engine, c->slot, i);
			c->pending[i] += now - c->last[i];
			c->last[i] = now;
		}
}

static void fold(struct vp_engine_session *es, struct vp_counter *c, uint32_t vcpu, uint32_t half)
{
	uint64_t *words = vp_entry_of(es, c->ecb, c->ecb->clause->source->nactions - 1, vcpu, half);

	if (!words)
		return; /* stays pending: the next half may have room */
	*words += c->pending[vcpu];
	c->pending[vcpu] = 0;
}

void vp_counters_fold(struct vp_engine_session *es, bool stopped)
{
	for (struct vp_counter *c = es->service->counters; c; c = c->next)
		for (uint32_t i = 0; i < es->open.nvcpus; i++)
			if (c->pending[i])
				fold(es, c, i, es->vcpus[i].active ^ (stopped ? 0 : 1));
}

void vp_counters_free(struct vp_engine_session *es)
{
	struct vp_counter *next;

	for (struct vp_counter *c = es->service->counters; c; c = next) {
		next = c->next;
		es->engine->service->slots.used[c->slot] = 0;
		es->engine->service->slots.nused--;
		free(c);
	}
}
