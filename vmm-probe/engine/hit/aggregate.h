/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The steps of an aggregation: its keys, and the aggregating action. Hit path. */
#ifndef VP_ENGINE_HIT_AGGREGATE_H
#define VP_ENGINE_HIT_AGGREGATE_H

#include "vmm-probe/engine/hit/fire.h"

/** The words of an element of the key (VP_TO_KEY), into v->key. */
enum dif_fault vp_key_evaluate(struct vp_vcpu_session *v, const struct vp_step *step);

/** Make the tuple's keys of v->key, for v->ecb's clause. */
void vp_put_keys(struct vp_vcpu_session *v, const struct dif_agg_layout *agg);

/** Aggregate under the key that the steps before @p step have left; without room, count a drop. FAULT: the
 * value could not be evaluated, *fault is the reason. */
enum vp_step_result vp_aggregate(struct vp_vcpu_session *v, const struct vp_step *step,
				 enum dif_fault *fault);

#endif
