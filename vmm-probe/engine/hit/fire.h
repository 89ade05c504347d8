/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A firing: one session's part in a hit, its ECBs and their steps. All on the vCPU's thread. */
#ifndef VP_ENGINE_HIT_FIRE_H
#define VP_ENGINE_HIT_FIRE_H

#include "vmm-probe/engine/hit/hit_session.h"

/** A session is entered by a hit (@p ctx, @p gva) or by hand (@p args). */
void vp_firing_begin(struct vp_vcpu_session *v, void *ctx, uint64_t gva, const uint64_t *args);
void vp_firing_end(struct vp_vcpu_session *v);

/** Run one ECB. */
void vp_fire_ecb(struct vp_vcpu_session *v, const struct vp_ecb *ecb);

/** Run one step. FAULT: *fault says which. DROP: the clause ends without record. */
enum vp_step_result { VP_STEP_DONE, VP_STEP_DROP, VP_STEP_FAULT };
enum vp_step_result vp_run_step(struct vp_vcpu_session *v, const struct vp_step *step, enum dif_fault *fault);

/** Store the value of a key or datum. */
enum dif_fault vp_store_datum(struct vp_vcpu_session *v, const struct vp_step *step, uint8_t *base);

/** Complete the record in progress and commit it; the clause may continue (after commit()). */
void vp_record_finish(struct vp_vcpu_session *v);

/** CLOCK_MONOTONIC in ns, constant within a clause; for an event inside the guest, its own time. */
uint64_t vp_clause_time(struct vp_vcpu_session *v);
/** CLOCK_MONOTONIC in ns. Any thread. */
uint64_t vp_now(void);

#endif
