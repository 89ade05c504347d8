/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Creating a vCPU's buffers, and exchanging their halves. The service thread writes a vCPU's buffer only
 * where the vCPU does not: before it starts, and in the inactive half.
 */
#include "vmm-probe/engine/hit/buffer.h"
#include "vmm-probe/engine/service/parts.h"

static uint32_t thread_of(const struct vp_engine *engine, uint32_t vcpu)
{
	return engine->ops->thread ? engine->ops->thread(engine->backend, vcpu) : 0;
}

struct ot_err *vp_buffers_init(struct vp_vcpu_session *v)
{
	struct vp_engine_session *es = v->es;
	const struct vp_msg_open *o = &es->open;

	v->status = (struct vp_vcpu_status *)(es->service->shared + o->status_offset) + v->vcpu;
	memset(v->status, 0, sizeof(*v->status));
	v->status->tid = thread_of(es->engine, v->vcpu);
	v->principal.size = o->bufsize;
	for (unsigned h = 0; h < 2; h++) {
		v->principal.mem[h] = es->service->shared + vp_principal_offset(o, v->vcpu, h);
		v->principal.oldest[h] = VP_NOT_WRAPPED;
		v->status->principal[h].wrapped = VP_NOT_WRAPPED;
		v->status->aggregation[h].wrapped = VP_NOT_WRAPPED;
		/* No index is needed without aggregations. */
		if (es->service->tuple_max && o->aggsize)
			OT_TRY(dif_aggtab_init(&v->aggs[h],
					       es->service->shared + vp_aggregation_offset(o, v->vcpu, h),
					       o->aggsize));
	}
	return NULL;
}

void vp_buffers_deinit(struct vp_vcpu_session *v)
{
	for (unsigned h = 0; h < 2; h++)
		if (v->aggs[h].mem)
			dif_aggtab_deinit(&v->aggs[h]);
}

void vp_buffer_reset(struct vp_vcpu_session *v, uint32_t half)
{
	struct vp_half *p = &v->status->principal[half], *a = &v->status->aggregation[half];

	v->principal.used[half] = 0;
	v->principal.oldest[half] = VP_NOT_WRAPPED;
	__atomic_store_n(&p->used, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->wrapped, VP_NOT_WRAPPED, __ATOMIC_RELAXED);
	if (v->aggs[half].mem && v->aggs[half].used)
		dif_aggtab_reset(&v->aggs[half]);
	__atomic_store_n(&a->used, 0, __ATOMIC_RELAXED);
}

static void stamp(struct vp_vcpu_session *v, uint32_t half, uint64_t since, uint64_t until)
{
	struct vp_half *h[] = { &v->status->principal[half], &v->status->aggregation[half] };

	for (unsigned i = 0; i < OT_ARRAY_SIZE(h); i++) {
		if (since)
			h[i]->since_ns = since;
		h[i]->until_ns = until;
	}
}

void vp_buffer_stamp_start(struct vp_engine_session *es, uint64_t now)
{
	for (uint32_t i = 0; i < es->open.nvcpus; i++)
		stamp(&es->vcpus[i], es->vcpus[i].active, now, now);
}

/*
 * @now is read before the exchange: a record that a vCPU is still writing to the old half may be younger, but
 * none in the new half is older than its activation, so "covered until @now" holds.
 */
void vp_buffers_switch(struct vp_engine_session *es, uint64_t now)
{
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		struct vp_vcpu_session *v = &es->vcpus[i];
		vp_buffer_reset(v, v->active ^ 1);
		/* Release: a vCPU that sees the half active sees it empty. */
		__atomic_store_n(&v->active, v->active ^ 1, __ATOMIC_RELEASE);
	}
	vp_quiesce(es->engine);
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		struct vp_vcpu_session *v = &es->vcpus[i];
		stamp(v, v->active, now, now);
		stamp(v, v->active ^ 1, 0, now);
		__atomic_store_n(&v->status->active, v->active, __ATOMIC_RELEASE);
	}
}
