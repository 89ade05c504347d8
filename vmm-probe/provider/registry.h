/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry from a provider's side.
 *
 * To add a provider: one file with a struct vp_provider, its line in registry.c's table. What it
 * publishes at creation is there for good; what it makes on demand, it makes in provide().
 */
#ifndef VP_PROVIDER_REGISTRY_H
#define VP_PROVIDER_REGISTRY_H

#include "base/arena.h"
#include "vmm-probe/provider/provider.h"

struct vp_planner;
struct vp_text;

struct vp_provider {
	const char *name;
	bool needs_guest;

	/* Required. Publish the probes that exist from the start. */
	struct ot_err *(*publish)(struct vp_probes *probes);

	/* Optional. Somebody asks for @p desc, whose provider field matches: make what it names. */
	struct ot_err *(*provide)(struct vp_probes *probes, const struct dif_probedesc *desc);

	/* Optional (probes with no place in the guest). As vp_probes_sites(). */
	struct ot_err *(*sites)(struct vp_probes *probes, const struct vp_probe *probe,
				struct vp_batch_site **ret, uint32_t *ret_count);

	/* Optional, both or none: without, args[] has no types. As vp_probes_arg(), vp_probes_nargs(). */
	bool (*arg)(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		    struct dif_type **ret_type, unsigned *ret_mapping);
	int (*nargs)(struct vp_probes *probes, const struct vp_probe *probe);
};

extern const struct vp_provider vp_provider_dtrace, vp_provider_profile, vp_provider_fbt, vp_provider_syscall,
    vp_provider_vm, vp_provider_sdt, vp_provider_sched, vp_provider_proc, vp_provider_io;

/** Add a probe; its id is set. Strings are borrowed: they must live as long as the registry (literals,
 * the guest's symbols, vp_probes_strdup()). Give equal strings by equal pointers where it costs
 * nothing: matching remembers answers by pointer. */
OT_MUST_CHECK struct ot_err *vp_probes_add(struct vp_probes *probes, const struct vp_provider *provider,
					   const struct vp_probe *probe);

/** Has @p provider published a probe without module and function of that name already? */
bool vp_probes_has(struct vp_probes *probes, const struct vp_provider *provider, const char *name);

OT_MUST_CHECK char *vp_probes_strdup(struct vp_probes *probes, const char *s);

/** NULL: none. */
struct vp_guest *vp_probes_guest(struct vp_probes *probes);

/** What decides about traps; NULL: probes of this guest need none. */
struct vp_planner *vp_probes_planner(struct vp_probes *probes);

/** Text of the guest, read at the first call. */
OT_MUST_CHECK struct ot_err *vp_probes_text(struct vp_probes *probes, struct vp_text **ret);

#endif
