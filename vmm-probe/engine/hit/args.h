/* SPDX-License-Identifier: GPL-2.0-or-later */
/* arg0 … arg9 of the firing in progress, and the condition of the site at which it is. Hit path. */
#ifndef VP_ENGINE_HIT_ARGS_H
#define VP_ENGINE_HIT_ARGS_H

#include "vmm-probe/engine/hit/hit_session.h"

/** The arguments of the place, if neither `raw` nor `program` computes them. */
static inline enum vp_args vp_place_args(const struct vp_vcpu_session *v)
{
	return v->at ? v->at->args : v->ecb->probe->args;
}

/** The next ECB is enabled at @p at. */
void vp_firing_at(struct vp_vcpu_session *v, const struct vp_enabled_site *at);

/** argN; 0 from arg10 on. A site's program is evaluated for it, once a firing; once a clause if its value is
 * in scratch memory; again after a fault. */
uint64_t vp_arg(struct vp_vcpu_session *v, unsigned n, enum dif_fault *fault);

/** Does the site v->at fire? Its conditions are evaluated once a firing. False also if one faults: then
 * *fault is set, and the virtual machine has the details. */
bool vp_site_condition(struct vp_vcpu_session *v, enum dif_fault *fault);

#endif
