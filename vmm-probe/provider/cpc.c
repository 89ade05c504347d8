/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cpc: EVENT-MODE-COUNT fires on a vCPU each time a performance counter of the host has counted COUNT events
 * for it. Each event has one probe from the start; any other is created when a description names it. Whether
 * an event can be counted here is determined when a description first matches the probe.
 */
#include <stdio.h>
#include <string.h>

#include "vmm-probe/provider/cpc_name.h"
#include "vmm-probe/provider/parsed_name.h"
#include "vmm-probe/provider/providers.h"

#define PREDEFINED "-all-1000000000"

/* @p name must be valid and live as long as the registry. */
static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, const char *name)
{
	struct vp_cpc_event *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = { .kind = VP_PROBE_CPC,
					.args = VP_ARGS_PROFILE,
					.module = "",
					.function = "",
					.name = name,
					.own = own };

	if (!own)
		return ot_err_nomem();
	if (!vp_cpc_parse(name, own))
		return ot_err_new(OT_ERR_INTERNAL, "%s is no cpc probe", name);
	return vp_probes_add(probes, self, &probe);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	const char *event;

	for (size_t i = 0; (event = vp_cpc_event_name(i)); i++) {
		size_t size = strlen(event) + sizeof(PREDEFINED);
		char *name = vp_probes_alloc(probes, size);
		if (!name)
			return ot_err_nomem();
		snprintf(name, size, "%s" PREDEFINED, event);
		OT_TRY(add(probes, self, name));
	}
	return NULL;
}

static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	struct vp_cpc_event event;
	char *name;

	if (!vp_parsed_name_is_new(probes, self, desc) || !vp_cpc_parse(desc->name, &event))
		return NULL;
	name = vp_probes_strdup(probes, desc->name);
	return name ? add(probes, self, name) : ot_err_nomem();
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	return vp_probes_test_cpc(probes, probe->own);
}

static void fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	bp->cpc = *(const struct vp_cpc_event *)probe->own;
}

const struct vp_provider vp_provider_cpc = {
	.name = "cpc",
	.needs_guest = true,
	.publish = publish,
	.provide = provide,
	.resolve = resolve,
	.fill = fill,
};
