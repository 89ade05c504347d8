/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of aggregations for what was counted without a firing, by inline counters and resident probes. The
 * service thread makes them in a vCPU's half while the vCPU uses the other one.
 */
#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"

/* Evaluate a key that is the same at each hit to the service thread's own tuple (es->spare); false: a fault,
 * which a constant can't cause. */
static bool make_tuple(struct vp_engine_session *es, const struct vp_ecb *ecb,
		       const struct dif_agg_layout *layout, uint32_t aggid)
{
	struct vp_vcpu_session *v = es->spare;

	v->ecb = ecb;
	dif_vm_begin(&v->vm, DIF_FUEL_DEFAULT);
	dif_vm_begin_clause(&v->vm);
	for (uint32_t i = 0; i < layout->nkeys; i++) {
		const struct vp_step *key = &ecb->clause->steps[layout->keys[i].action];
		if (vp_store_datum(v, key, v->tuple) != DIF_FAULT_NONE)
			return false;
	}
	memcpy(v->tuple, &aggid, sizeof(aggid));
	return true;
}

uint64_t *vp_entry_of(struct vp_engine_session *es, const struct vp_ecb *ecb, uint32_t action, uint32_t vcpu,
		      uint32_t half)
{
	struct vp_vcpu_session *v = &es->vcpus[vcpu];
	const struct dif_action *agg = &ecb->clause->source->actions[action];
	const struct dif_agg_layout *layout = ecb->clause->steps[action].agg;

	if (!v->aggs[half].mem || !make_tuple(es, ecb, layout, agg->aggid))
		return NULL;
	uint64_t *words = dif_aggtab_lookup(&v->aggs[half], layout, (enum dif_agg_kind)agg->kind, agg->arg,
					    es->spare->tuple, ecb->epid);
	if (!words)
		vp_count(&v->agg_dropped[half], &v->status->aggregation[half].dropped);
	else
		__atomic_store_n(&v->status->aggregation[half].used, v->aggs[half].used, __ATOMIC_RELEASE);
	return words;
}
