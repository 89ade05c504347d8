/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Speculations. An id has one word for all engines of a session, in their shared memory and changed by CAS,
 * and a private buffer on each vCPU. The word is a state, and a bit for each engine that may hold records for
 * it.
 *
 *   FREE ─speculation()─► OPEN ─speculate()─► ONE (and which vCPU) ─speculate() on another─► MANY
 *
 *   commit(), discard():  OPEN, ONE (own) ─► OWN ─► FREE        at once
 *                         ONE (another's), MANY ─► COMMITTING, DISCARDING
 *                                                  ─► FREE      at a switch of the last engine whose bit
 *                                                               is there, by its service thread
 *
 * The committing vCPU moves its own records at once; the other vCPUs' records are appended to their halves
 * when those are exchanged (service/speculation.c). No vCPU adds to an id that is OWN, COMMITTING or
 * DISCARDING.
 *
 * Another process may overwrite the words: then records appear or not, with no other effect, because buffers
 * and their lengths are private and every loop is bounded.
 */
#ifndef VP_ENGINE_HIT_SPECULATION_H
#define VP_ENGINE_HIT_SPECULATION_H

#include "vmm-probe/engine/hit/fire.h"

#define VP_SPEC_TRIES_MAX 64

enum vp_spec_state {
	VP_SPEC_FREE,
	VP_SPEC_OPEN,
	VP_SPEC_MANY,
	VP_SPEC_OWN,
	VP_SPEC_COMMITTING,
	VP_SPEC_DISCARDING,
};
#define VP_SPEC_ONE (1u << 31) /* | vCPU, numbered through all engines */

/** For speculation(), speculate(), commit() and discard(). Hit path. */
uint64_t vp_spec_new(struct vp_vcpu_session *v);
enum vp_step_result vp_spec_speculate(struct vp_vcpu_session *v, uint64_t id);
enum vp_step_result vp_spec_commit(struct vp_vcpu_session *v, uint64_t id, enum dif_fault *fault);
enum vp_step_result vp_spec_discard(struct vp_vcpu_session *v, uint64_t id, enum dif_fault *fault);

/** Give the records in [mem, mem + used) the time of their commit. The buffer is private memory, so EPIDs and
 * sizes are as vp_record_finish() wrote them. */
void vp_spec_set_times(const struct vp_engine_session *es, uint8_t *mem, uint64_t used, uint64_t now);

static inline uint32_t vp_spec_state_of(uint64_t word)
{
	return (uint32_t)word;
}

static inline uint64_t vp_spec_engine_bit(const struct vp_engine_session *es)
{
	return 1ull << (32 + es->open.engine);
}

static inline bool vp_spec_cas(uint64_t *word, uint64_t *from, uint64_t to)
{
	return __atomic_compare_exchange_n(word, from, to, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

#endif
