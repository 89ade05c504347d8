/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stand-ins: probes of a file that fire for the processes whose own probes, at the same places, are not
 * enabled yet (vp_batch_probe.stands_in). Hit path.
 */
#ifndef VP_ENGINE_HIT_STAND_IN_H
#define VP_ENGINE_HIT_STAND_IN_H

#include "vmm-probe/engine/hit/hit_session.h"

#define VP_PROVIDER_MAX 96 /* bytes of a completed provider's name, with its NUL */

/** Is the clause of @p ecb, a stand-in's at @p site, enabled where the vCPU is by a probe of the running
 * process's own? That one fires then, at a site of the same plan. */
bool vp_has_own(struct vp_vcpu_session *v, const struct vp_site *site, const struct vp_ecb *ecb);

/** The name of @p probe's provider: of a stand-in it is what the running process's own would have, and is
 * made in @p room; else @p room is not used. Longer ones are cut. */
const char *vp_provider_of(struct vp_vcpu_session *v, const struct vp_enabled_probe *probe,
			   char room[VP_PROVIDER_MAX]);

/** A word that tells that name from all others that a session may have. */
uint64_t vp_provider_word(struct vp_vcpu_session *v, const struct vp_enabled_probe *probe);

#endif
