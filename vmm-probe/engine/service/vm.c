/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vm provider's probes: what a backend tells of its vCPUs, by event. The table is made anew at each
 * change and never changed while vCPUs may look at it.
 */
#include <stdlib.h>

#include "vmm-probe/engine/internal.h"

struct entry {
	uint32_t event;
	struct vp_es *es;
	const struct vp_probe_rt *probe;
};

/* Sorted by event. */
struct vp_vm_table {
	uint32_t n;
	struct entry entries[];
};

/* Every vm probe that is to fire but those of statistics; @table NULL: only count. */
static uint32_t each_probe(const struct vp_engine *engine, struct vp_vm_table *table)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < engine->nsessions; s++) {
		struct vp_es *es = engine->sessions[s];
		for (struct vp_batch_rt *b = es->planned ? es->batches : NULL; b; b = b->next)
			for (uint32_t i = 0; i < b->nprobes; i++) {
				const struct vp_probe_rt *probe = &b->probes[i];
				if (probe->kind != VP_PROBE_VM || vp_vm_is_timed(probe) || !vp_any_in(probe))
					continue;
				if (table)
					table->entries[n] = (struct entry){ probe->event, es, probe };
				n++;
			}
	}
	return n;
}

uint32_t vp_vm_events(const struct vp_engine *engine)
{
	uint32_t kinds = 0;

	for (uint32_t s = 0; s < engine->nsessions; s++) {
		const struct vp_es *es = engine->sessions[s];
		for (const struct vp_batch_rt *b = es->planned ? es->batches : NULL; b; b = b->next)
			for (uint32_t i = 0; i < b->nprobes; i++)
				if (b->probes[i].kind == VP_PROBE_VM && vp_any_in(&b->probes[i]))
					kinds |= 1u << (b->probes[i].event >> 16);
	}
	return kinds & ~(1u << VP_VM_STAT);
}

/* One probe has its ECBs in order of enabling; in which order sessions come does not matter. */
static int by_event(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	if (x->es != y->es)
		return x->es < y->es ? -1 : 1;
	return x->probe < y->probe ? -1 : x->probe > y->probe;
}

static void put_in_force(struct vp_engine *engine, struct vp_vm_table *table)
{
	struct vp_vm_table *old = engine->vm;

	__atomic_store_n(&engine->vm, table, __ATOMIC_RELEASE);
	vp_quiesce(engine);
	free(old);
}

struct ot_err *vp_vm_update(struct vp_engine *engine)
{
	uint32_t n = each_probe(engine, NULL);
	struct vp_vm_table *table = NULL;

	if (!n && !engine->vm)
		return NULL;
	if (n) {
		table = calloc(1, sizeof(*table) + n * sizeof(table->entries[0]));
		if (!table)
			return ot_err_nomem();
		table->n = each_probe(engine, table);
		qsort(table->entries, n, sizeof(table->entries[0]), by_event);
	}
	put_in_force(engine, table);
	return NULL;
}

void vp_vm_stop(struct vp_engine *engine)
{
	if (engine->vm)
		put_in_force(engine, NULL);
}

/* --- an event: vCPU thread -------------------------------------------------------------------- */

static uint32_t first_of(const struct vp_vm_table *t, uint32_t event)
{
	uint32_t low = 0, high = t->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (t->entries[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void fire(const struct entry *e, struct vp_es_vcpu *v, void *ctx, const uint64_t args[10],
		 uint64_t *clock)
{
	vp_firing_begin(v, ctx, 0, args);
	for (const struct vp_ecb *ecb = e->probe->first; ecb; ecb = ecb->next) {
		if (vp_es_activity(e->es) != VP_ACTIVE)
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
	uint64_t clock = vp_guard_begin(me);
	for (uint32_t i = t ? first_of(t, event) : 0; t && i < t->n && t->entries[i].event == event; i++) {
		const struct entry *e = &t->entries[i];
		if (vp_es_activity(e->es) == VP_ACTIVE)
			fire(e, &e->es->vcpus[vcpu], ctx, args, &clock);
	}
	vp_vcpu_leave(me);
}
