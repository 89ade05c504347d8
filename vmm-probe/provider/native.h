/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes of sched, proc and io that the module in the guest can report. */
#ifndef VP_PROVIDER_NATIVE_H
#define VP_PROVIDER_NATIVE_H

#include "vmm-probe/provider/registry.h"

/* As the callbacks of struct vp_provider, of probes of kind AGENT. */
OT_MUST_CHECK struct ot_err *vp_native_publish(struct vp_probes *probes, const struct vp_provider *self);
bool vp_native_inside(const struct vp_probes *probes, const struct vp_probe *probe,
		      const struct vp_guest_agent *agent, struct vp_batch_event *ret);
bool vp_native_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		   struct dif_probe_arg *ret);
int vp_native_nargs(struct vp_probes *probes, const struct vp_probe *probe);

#endif
