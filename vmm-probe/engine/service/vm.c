/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vm provider's probes: events of vCPUs that a backend reports. The table is rebuilt at each change and
 * immutable while vCPUs may use it.
 */
#include <stdlib.h>

#include "vmm-probe/engine/hit/vm_event.h"
#include "vmm-probe/engine/service/parts.h"

/* Every vm probe in force except those of statistics; @table NULL: only count. */
static uint32_t each_probe(const struct vp_engine *engine, struct vp_vm_table *table)
{
	uint32_t n = 0;

	vp_each_planned(w, engine) {
		if (w.probe->kind != VP_PROBE_VM || vp_vm_is_timed(w.probe) || !vp_any_in(w.probe))
			continue;
		if (table)
			table->entries[n] = (struct vp_vm_entry){ w.probe->event, w.es, w.probe };
		n++;
	}
	return n;
}

uint32_t vp_vm_events(const struct vp_engine *engine)
{
	uint32_t kinds = 0;

	vp_each_planned(w, engine)
		if (w.probe->kind == VP_PROBE_VM && vp_any_in(w.probe))
			kinds |= 1u << (w.probe->event >> 16);
	return kinds & ~(1u << VP_VM_STAT);
}

/* A probe's ECBs stay in order of enabling; the order of sessions does not matter. */
static int by_event(const void *a, const void *b)
{
	const struct vp_vm_entry *x = a, *y = b;

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
