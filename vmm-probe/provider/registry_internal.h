/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registry's data, for its files only: registry.c stores probes, registry_plan.c decides whether they can
 * be placed, registry_match.c finds those that a description names. */
#ifndef VP_PROVIDER_REGISTRY_INTERNAL_H
#define VP_PROVIDER_REGISTRY_INTERNAL_H

#include "base/map.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/registry_index.h"
#include "vmm-probe/provider/registry_runs.h"

#define VP_PROBES_CHUNK 1024u

struct vp_probe_entry {
	struct vp_probe probe;
	const struct vp_provider *provider;
	bool resolved;
	/* Set by the planner's decision; only with a planner: */
	bool planned;
	bool plan_refused;           /* probe.refused is the planner's */
	struct vp_batch_site *sites; /* owned */
	uint32_t nsites;
};

/* The support for probes in the guest's processes. */
struct vp_user_probes {
	bool possible;                            /* unless … */
	const char *refused;                      /* … this is why not */
	bool raises;                              /* semaphores are raised, or … */
	const char *no_semaphores;                /* … this is why not */
	uint64_t target;                          /* vp_probes_set_target() */
	struct vp_pid_processes *known;           /* vp_probes_processes() */
	void (*say)(void *arg, const char *text); /* vp_probes_set_say() */
	void *say_arg;
};

struct vp_probes {
	struct vp_guest *guest;
	struct vp_types *types;
	struct vp_text *text;
	struct vp_derivation *derivation;
	struct vp_tracepoint_finder *tracepoints;
	uint8_t *inlined; /* vp_probes_inlined() */
	struct vp_planner *planner;
	uint32_t traps;            /* the planner's */
	bool keys_checked;         /* whether probes may be on branches on static keys has been determined: */
	const char *keys_refused;  /* no, with the reason; NULL: yes */
	struct vp_text_undo undo;  /* of the planner's guest */
	struct vp_cpc_support cpc; /* test NULL: no event can be counted */
	struct vp_user_probes user;
	struct ot_arena strings;
	struct vp_probe_entry **chunks;
	size_t nchunks, chunks_cap;
	uint32_t count;
	uint32_t at_first; /* of them, before the first that came with a module; 0: none has */
	struct vp_probe_index index;
	struct vp_probe_runs runs;
	uint64_t compared; /* probes that were looked at for a description, ever: what matching costs */
	struct ot_map unanchored; /* probes without a function, by name: their provider */
	struct vp_guest_agent agent;
	bool has_agent;
	char *no_agent; /* why the agent that is there can't be used */
};

static inline struct vp_probe_entry *vp_probe_entry(const struct vp_probes *probes, uint32_t id)
{
	return &probes->chunks[(id - 1) / VP_PROBES_CHUNK][(id - 1) % VP_PROBES_CHUNK];
}

/** Have providers create the probes that @p desc names. */
OT_MUST_CHECK struct ot_err *vp_providers_provide(struct vp_probes *probes, const struct dif_probedesc *desc);

/** Resolve the probe once, when a description first matches it; if its sites must be trapped and can't be,
 * set probe.refused. Errors are those of this process. */
OT_MUST_CHECK struct ot_err *vp_probe_plan(struct vp_probes *probes, struct vp_probe_entry *e);

/** Drop the decisions about traps. */
void vp_plans_forget(struct vp_probes *probes);

#endif
