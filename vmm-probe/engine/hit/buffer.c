/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffers of one vCPU. Records go into the half in use; the service thread exchanges the halves
 * while the vCPU is outside a probe. All positions are private: the shared words are only written, so
 * a consumer that scribbles over them harms itself alone.
 *
 *   half:  | record | 0 | record | record | ……free…… |       0: filler word (EPID 0) for alignment
 *          0                               used
 *
 *   ring:  | newest … | (gap) | oldest … | 0 0 |
 *          0          used    oldest           size
 */
#include <stdlib.h>

#include "vmm-probe/engine/internal.h"

#define NOT_WRAPPED (~0ull)

/* --- life ------------------------------------------------------------------------------------ */

struct ot_err *vp_buffers_init(struct vp_es_vcpu *v)
{
	struct vp_es *es = v->es;
	const struct vp_msg_open *o = &es->open;

	v->status = (struct vp_vcpu_status *)(es->shared + o->status_offset) + v->vcpu;
	memset(v->status, 0, sizeof(*v->status));
	v->principal.size = o->bufsize;
	for (unsigned h = 0; h < 2; h++) {
		v->principal.mem[h] = es->shared + vp_principal_offset(o, v->vcpu, h);
		v->principal.oldest[h] = NOT_WRAPPED;
		v->status->principal[h].wrapped = NOT_WRAPPED;
		v->status->aggregation[h].wrapped = NOT_WRAPPED;
		/* Without aggregations there is nothing to index. */
		if (es->tuple_max && o->aggsize)
			OT_TRY(dif_aggtab_init(&v->aggs[h], es->shared + vp_aggregation_offset(o, v->vcpu, h),
					       o->aggsize));
	}
	return NULL;
}

void vp_buffers_deinit(struct vp_es_vcpu *v)
{
	for (unsigned h = 0; h < 2; h++)
		if (v->aggs[h].mem)
			dif_aggtab_deinit(&v->aggs[h]);
}

/* --- records ------------------------------------------------------------------------------------ */

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void count_drop(struct vp_es_vcpu *v, uint32_t half)
{
	vp_count(&v->principal.dropped[half], &v->status->principal[half].dropped);
}

static uint64_t record_size(const struct vp_es *es, const uint8_t *at)
{
	const struct vp_epid_sizes *sizes = __atomic_load_n(&es->sizes, __ATOMIC_ACQUIRE);
	uint32_t epid;

	memcpy(&epid, at, sizeof(epid));
	if (epid == VP_EPID_FAULT)
		return sizeof(struct vp_fault_record);
	return epid && sizes && epid < sizes->n && sizes->size[epid] ? sizes->size[epid] : 4;
}

/* Push the oldest records out of [.., end). Their sizes come by way of shared memory: whatever is there,
 * each round moves on by 4 at least. */
static void evict(struct vp_es_vcpu *v, uint32_t half, uint64_t end)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t oldest = b->oldest[half];

	while (oldest < end && oldest + 4 <= b->size)
		oldest += record_size(v->es, b->mem[half] + oldest);
	b->oldest[half] = oldest + 4 > b->size ? NOT_WRAPPED : oldest;
	__atomic_store_n(&v->status->principal[half].wrapped, b->oldest[half], __ATOMIC_RELAXED);
}

static uint8_t *reserve_ring(struct vp_es_vcpu *v, uint32_t size, uint32_t align)
{
	struct vp_pbuf *b = &v->principal;
	uint32_t half = v->half;
	uint64_t at = align_up(b->used[half], align);

	if (size > b->size) {
		count_drop(v, half);
		return NULL;
	}
	if (at + size > b->size) {
		memset(b->mem[half] + b->used[half], 0, b->size - b->used[half]);
		b->oldest[half] = 0;
		b->used[half] = 0;
		__atomic_store_n(&v->status->principal[half].used, 0, __ATOMIC_RELAXED);
		at = 0;
	}
	if (b->oldest[half] != NOT_WRAPPED)
		evict(v, half, at + size);
	return b->mem[half] + at;
}

/* Fill: the first record without room ends tracing on all vCPUs; it is no drop. */
static void no_room(struct vp_es_vcpu *v)
{
	uint32_t active = VP_ACTIVE;

	if (v->es->open.bufpolicy != VP_BUF_FILL) {
		count_drop(v, v->half);
		return;
	}
	__atomic_store_n(&v->es->filled, 1, __ATOMIC_RELEASE);
	__atomic_compare_exchange_n(&v->es->activity, &active, VP_DRAINING, false, __ATOMIC_ACQ_REL,
				    __ATOMIC_RELAXED);
}

uint8_t *vp_buffer_reserve(struct vp_es_vcpu *v, uint32_t size, uint32_t align, uint64_t keep)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t at, room = b->size > keep ? b->size - keep : 0;

	if (v->es->open.bufpolicy == VP_BUF_RING)
		return reserve_ring(v, size, align);
	at = align_up(b->used[v->half], align);
	if (at > room || size > room - at) {
		no_room(v);
		return NULL;
	}
	return b->mem[v->half] + at;
}

static void commit_in(struct vp_es_vcpu *v, uint32_t half, const uint8_t *record, uint32_t size)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t at = (uint64_t)(record - b->mem[half]);

	if (at > b->used[half])
		memset(b->mem[half] + b->used[half], 0, at - b->used[half]);
	b->used[half] = at + size;
	/* Release: a consumer that reads both halves after the VMM's death finds whole records. */
	__atomic_store_n(&v->status->principal[half].used, b->used[half], __ATOMIC_RELEASE);
}

void vp_buffer_commit(struct vp_es_vcpu *v, const uint8_t *record, uint32_t size)
{
	commit_in(v, v->half, record, size);
}

uint8_t *vp_buffer_append(struct vp_es_vcpu *v, uint32_t half, uint32_t size, uint32_t align)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t at = align_up(b->used[half], align);

	if (b->oldest[half] != NOT_WRAPPED || at > b->size || size > b->size - at) {
		count_drop(v, half);
		return NULL;
	}
	commit_in(v, half, b->mem[half] + at, size);
	return b->mem[half] + at;
}

/* --- exchange --------------------------------------------------------------------------------------- */

void vp_buffer_reset(struct vp_es_vcpu *v, uint32_t half)
{
	struct vp_half *p = &v->status->principal[half], *a = &v->status->aggregation[half];

	v->principal.used[half] = 0;
	v->principal.oldest[half] = NOT_WRAPPED;
	__atomic_store_n(&p->used, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&p->wrapped, NOT_WRAPPED, __ATOMIC_RELAXED);
	if (v->aggs[half].mem && v->aggs[half].used)
		dif_aggtab_reset(&v->aggs[half]);
	__atomic_store_n(&a->used, 0, __ATOMIC_RELAXED);
}

static void stamp(struct vp_es_vcpu *v, uint32_t half, uint64_t since, uint64_t until)
{
	struct vp_half *h[] = { &v->status->principal[half], &v->status->aggregation[half] };

	for (unsigned i = 0; i < OT_ARRAY_SIZE(h); i++) {
		if (since)
			h[i]->since_ns = since;
		h[i]->until_ns = until;
	}
}

void vp_buffer_stamp_start(struct vp_es *es, uint64_t now)
{
	for (uint32_t i = 0; i < es->open.nvcpus; i++)
		stamp(&es->vcpus[i], es->vcpus[i].active, now, now);
}

/*
 * @now is taken before the exchange: a record that a vCPU still writes into the old half may be younger,
 * but none in the new half is older than the moment when it became active, so "covered until now" holds.
 */
void vp_buffers_switch(struct vp_es *es, uint64_t now)
{
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		struct vp_es_vcpu *v = &es->vcpus[i];
		vp_buffer_reset(v, v->active ^ 1);
		/* Release: the vCPU that finds the half in use finds it empty. */
		__atomic_store_n(&v->active, v->active ^ 1, __ATOMIC_RELEASE);
	}
	vp_quiesce(es->engine);
	for (uint32_t i = 0; i < es->open.nvcpus; i++) {
		struct vp_es_vcpu *v = &es->vcpus[i];
		stamp(v, v->active, now, now);
		stamp(v, v->active ^ 1, 0, now);
		__atomic_store_n(&v->status->active, v->active, __ATOMIC_RELEASE);
	}
}
