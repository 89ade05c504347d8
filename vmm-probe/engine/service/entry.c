/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entries of aggregations for counts without a firing, by inline counters and resident probes. The service
 * thread makes them in a vCPU's half while the vCPU uses the other one.
 */
#include "vmm-probe/engine/hit/aggregate.h"
#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/hit/fire.h"
#include "vmm-probe/engine/service/parts.h"

/* A key that is the same at each hit, evaluated; false: a fault, which a constant can't cause. */
static bool evaluate(struct vp_vcpu_session *v, const struct dif_agg_layout *layout)
{
	dif_vm_begin(&v->vm, DIF_FUEL_DEFAULT);
	dif_vm_begin_clause(&v->vm);
	for (uint32_t i = 0; i < layout->nkeys; i++) {
		const struct vp_step *key = &v->ecb->clause->steps[layout->keys[i].action];
		if (vp_store_datum(v, key, v->tuple) != DIF_FAULT_NONE)
			return false;
	}
	return true;
}

/* The entry with the tuple of @from, the service thread's own (es->spare). */
static uint64_t *look_up(struct vp_vcpu_session *v, const struct vp_vcpu_session *from,
			 const struct vp_step *step, uint32_t half)
{
	const struct dif_action *agg = step->action;

	memcpy(from->tuple, &agg->aggid, sizeof(agg->aggid));
	uint64_t *words = dif_aggtab_lookup(&v->aggs[half], step->agg, (enum dif_agg_kind)agg->kind, agg->arg,
					    from->tuple, from->ecb->epid);
	if (!words)
		vp_count(&v->agg_dropped[half], &v->status->aggregation[half].dropped);
	else
		__atomic_store_n(&v->status->aggregation[half].used, v->aggs[half].used, __ATOMIC_RELEASE);
	return words;
}

uint64_t *vp_entry_of(struct vp_engine_session *es, const struct vp_ecb *ecb, uint32_t action, uint32_t vcpu,
		      uint32_t half)
{
	struct vp_vcpu_session *v = &es->vcpus[vcpu], *own = es->spare;
	const struct vp_step *step = &ecb->clause->steps[action];

	own->ecb = ecb;
	return v->aggs[half].mem && evaluate(own, step->agg) ? look_up(v, own, step, half) : NULL;
}

uint64_t *vp_entry_by_words(struct vp_engine_session *es, const struct vp_ecb *ecb, uint32_t action,
			    const uint64_t *words, uint32_t vcpu, uint32_t half)
{
	struct vp_vcpu_session *v = &es->vcpus[vcpu], *own = es->spare;
	const struct vp_step *step = &ecb->clause->steps[action];

	if (!v->aggs[half].mem)
		return NULL;
	own->ecb = ecb;
	memcpy(own->key, words, step->nwords * sizeof(*words));
	vp_put_keys(own, step->agg);
	return look_up(v, own, step, half);
}
