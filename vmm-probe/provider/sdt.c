/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sdt: the guest's own tracepoints, if its agent is loaded. sdt:SYSTEM::EVENT, with SYSTEM as in the guest's
 * tracefs. args[] are the parameters of the tracepoint.
 */
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/tracepoint.h"

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	const struct vp_guest_agent *agent = vp_probes_agent(probes, NULL);

	for (size_t i = 0; agent && i < agent->nevents; i++) {
		const struct vp_agent_event *e = &agent->events[i];
		struct vp_tracepoint *own = vp_probes_alloc(probes, sizeof(*own));
		const struct vp_probe probe = {
			.kind = VP_PROBE_AGENT,
			.args = VP_ARGS_AGENT,
			.module = e->system,
			.function = "",
			.name = e->name,
			.gva = e->address,
			.own = own,
		};

		if (!own)
			return ot_err_nomem();
		*own = (struct vp_tracepoint){
			.event = e->name,
			.address = e->address,
			.slot = e->slot,
			.nargs = vp_tracepoint_words(probes, e->address, e->name),
		};
		OT_TRY(vp_probes_add(probes, self, &probe));
	}
	return NULL;
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	return vp_tracepoint_nargs(probes, probe->gva, probe->name);
}

static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	return vp_tracepoint_arg(probes, probe->gva, probe->name, n, ret);
}

const struct vp_provider vp_provider_sdt = {
	.name = "sdt",
	.needs_guest = true,
	.publish = publish,
	.provide = vp_tracepoint_provide,
	.inside = vp_tracepoint_inside,
	.arg = arg,
	.nargs = nargs,
};
