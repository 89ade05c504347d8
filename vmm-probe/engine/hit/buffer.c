/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffers of one vCPU. Records are written to the active half; the service thread exchanges the halves
 * while the vCPU is outside a probe. All positions are private and the shared words are only written, so a
 * consumer that overwrites them harms only itself.
 *
 *   half:  | record | 0 | record | record | ……free…… |       0: filler word (EPID 0) for alignment
 *          0                               used
 *
 *   ring:  | newest … | (gap) | oldest … | 0 0 |
 *          0          used    oldest           size
 */
#include "vmm-probe/engine/hit/buffer.h"

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static void count_drop(struct vp_vcpu_session *v, uint32_t half)
{
	vp_count(&v->principal.dropped[half], &v->status->principal[half].dropped);
}

static uint64_t record_size(const struct vp_engine_session *es, const uint8_t *at)
{
	const struct vp_epid_sizes *sizes = __atomic_load_n(&es->sizes, __ATOMIC_ACQUIRE);
	uint32_t epid;

	memcpy(&epid, at, sizeof(epid));
	if (epid == VP_EPID_FAULT)
		return sizeof(struct vp_fault_record);
	return epid && sizes && epid < sizes->n && sizes->size[epid] ? sizes->size[epid] : 4;
}

/* Push the oldest records out of [.., end). Their sizes are read from shared memory: with any content each
 * round advances by at least 4. */
static void evict(struct vp_vcpu_session *v, uint32_t half, uint64_t end)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t oldest = b->oldest[half];

	while (oldest < end && oldest + 4 <= b->size)
		oldest += record_size(v->es, b->mem[half] + oldest);
	b->oldest[half] = oldest + 4 > b->size ? VP_NOT_WRAPPED : oldest;
	__atomic_store_n(&v->status->principal[half].wrapped, b->oldest[half], __ATOMIC_RELAXED);
}

static uint8_t *reserve_ring(struct vp_vcpu_session *v, uint32_t size, uint32_t align)
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
	if (b->oldest[half] != VP_NOT_WRAPPED)
		evict(v, half, at + size);
	return b->mem[half] + at;
}

/* Fill policy: the first record without room ends tracing on all vCPUs; it is no drop. */
static void no_room(struct vp_vcpu_session *v)
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

uint8_t *vp_buffer_reserve(struct vp_vcpu_session *v, uint32_t size, uint32_t align, uint64_t keep)
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

static void commit_in(struct vp_vcpu_session *v, uint32_t half, const uint8_t *record, uint32_t size)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t at = (uint64_t)(record - b->mem[half]);

	if (at > b->used[half])
		memset(b->mem[half] + b->used[half], 0, at - b->used[half]);
	b->used[half] = at + size;
	/* Release: a consumer that reads both halves after the VMM's death finds whole records. */
	__atomic_store_n(&v->status->principal[half].used, b->used[half], __ATOMIC_RELEASE);
}

void vp_buffer_commit(struct vp_vcpu_session *v, const uint8_t *record, uint32_t size)
{
	commit_in(v, v->half, record, size);
}

uint8_t *vp_buffer_append(struct vp_vcpu_session *v, uint32_t half, uint32_t size, uint32_t align)
{
	struct vp_pbuf *b = &v->principal;
	uint64_t at = align_up(b->used[half], align);

	if (b->oldest[half] != VP_NOT_WRAPPED || at > b->size || size > b->size - at) {
		count_drop(v, half);
		return NULL;
	}
	commit_in(v, half, b->mem[half] + at, size);
	return b->mem[half] + at;
}
