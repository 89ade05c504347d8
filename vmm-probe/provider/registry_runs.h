/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes with consecutive ids whose provider has one name: a description that names another provider skips
 * all of them at once. */
#ifndef VP_PROVIDER_REGISTRY_RUNS_H
#define VP_PROVIDER_REGISTRY_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vp_provider;

/* The run ends before the next one's first. */
struct vp_probe_run {
	const struct vp_provider *provider;
	const char *name; /* vp_probe.provider, compared as a pointer */
	uint32_t first;
};

struct vp_probe_runs {
	struct vp_probe_run *list;
	size_t count, cap;
};

/** A probe is added: @p id, above all before it. False: no memory. */
bool vp_probe_runs_add(struct vp_probe_runs *runs, const struct vp_provider *provider, const char *name,
		       uint32_t id);
void vp_probe_runs_deinit(struct vp_probe_runs *runs);

/** The number of the run that @p id is in, or would be. There is one. */
size_t vp_probe_runs_find(const struct vp_probe_runs *runs, uint32_t id);
/** The id after run @p i's last one; @p end: that of the last run. */
uint32_t vp_probe_run_end(const struct vp_probe_runs *runs, size_t i, uint32_t end);

#endif
