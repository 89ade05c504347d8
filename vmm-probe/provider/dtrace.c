/* SPDX-License-Identifier: GPL-2.0-or-later */
/* dtrace:::BEGIN, END and ERROR: a session's own probes, fired by the operator's process (ERROR in the
 * context of the fault). */
#include "vmm-probe/provider/providers.h"

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	static const struct vp_probe list[] = {
		{ .kind = VP_PROBE_HOST, .args = VP_ARGS_NONE, .name = "BEGIN" },
		{ .kind = VP_PROBE_HOST, .args = VP_ARGS_NONE, .name = "END" },
		{ .kind = VP_PROBE_ERROR, .args = VP_ARGS_ERROR, .name = "ERROR" },
	};

	for (unsigned i = 0; i < OT_ARRAY_SIZE(list); i++) {
		struct vp_probe probe = list[i];

		probe.module = probe.function = "";
		OT_TRY(vp_probes_add(probes, self, &probe));
	}
	return NULL;
}

const struct vp_provider vp_provider_dtrace = {
	.name = "dtrace",
	.publish = publish,
};
