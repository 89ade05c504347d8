/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of probes of one provider. */
#include "vmm-probe/provider/registry_runs.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/search.h"

bool vp_probe_runs_add(struct vp_probe_runs *runs, const struct vp_provider *provider, const char *name,
		       uint32_t id)
{
	const struct vp_probe_run *last = runs->count ? &runs->list[runs->count - 1] : NULL;

	if (last && last->provider == provider && last->name == name)
		return true;
	if (!ot_grow(&runs->list, &runs->cap, runs->count + 1, sizeof(*runs->list)))
		return false;
	runs->list[runs->count++] = (struct vp_probe_run){ provider, name, id };
	return true;
}

void vp_probe_runs_deinit(struct vp_probe_runs *runs)
{
	free(runs->list);
	*runs = (struct vp_probe_runs){ 0 };
}

size_t vp_probe_runs_find(const struct vp_probe_runs *runs, uint32_t id)
{
	return OT_COUNT_BEFORE(runs->count, i, runs->list[i].first <= id) - 1;
}

uint32_t vp_probe_run_end(const struct vp_probe_runs *runs, size_t i, uint32_t end)
{
	return i + 1 < runs->count && runs->list[i + 1].first < end ? runs->list[i + 1].first : end;
}
