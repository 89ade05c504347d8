/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing the buffers of one vCPU; the service thread exchanges them (service/exchange.h). */
#ifndef VP_ENGINE_HIT_BUFFER_H
#define VP_ENGINE_HIT_BUFFER_H

#include "vmm-probe/engine/hit/hit_session.h"

#define VP_NOT_WRAPPED (~0ull)

/** Room for a record in the active half, or NULL: dropped, and counted. @p keep bytes at the end stay free.
 * The record is in the buffer only after vp_buffer_commit(). Hit path. */
uint8_t *vp_buffer_reserve(struct vp_vcpu_session *v, uint32_t size, uint32_t align, uint64_t keep);
void vp_buffer_commit(struct vp_vcpu_session *v, const uint8_t *record, uint32_t size);

/** The same in half @p half, by the service thread after the exchange. */
uint8_t *vp_buffer_append(struct vp_vcpu_session *v, uint32_t half, uint32_t size, uint32_t align);

/* A counter that the consumer may read at any time; one writer. */
static inline void vp_count(uint64_t *private_word, uint64_t *shared_word)
{
	__atomic_store_n(shared_word, ++*private_word, __ATOMIC_RELAXED);
}
#define VP_COUNT(v, field) vp_count(&(v)->counts.field, &(v)->status->field)

#endif
