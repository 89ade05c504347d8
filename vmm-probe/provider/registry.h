/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry from a provider's side.
 *
 * To add a provider: a file with a struct vp_provider, its line in providers.h, and its file in
 * CMakeLists.txt. Probes published at creation are permanent; provide() creates probes on demand. A
 * provider's data for a probe is vp_probe.own, from vp_probes_alloc().
 *
 * Arguments. arg() gives each args[n] two types: the native one, of the value in the guest, and the one that
 * D uses. If they differ, a translator makes the second from the first, as in DTrace: for io:::start, native
 * is the guest's `struct bio *`, and `translated` is "bufinfo_t *". bufinfo_t and the translator `translator
 * bufinfo_t < struct bio *B > { … }` then belong in a D library in cli/d. A provider whose args[] are the
 * guest's own structures leaves `translated` NULL. The compiler resolves the translated type by name when a
 * program uses args[n]; in a guest whose kernel has no such native type the argument does not exist.
 */
#ifndef VP_PROVIDER_REGISTRY_H
#define VP_PROVIDER_REGISTRY_H

#include "base/arena.h"
#include "vmm-probe/provider/provider.h"

struct vp_derivation;
struct vp_module;
struct vp_pid_processes;
struct vp_planner;
struct vp_text;
struct vp_tracepoint_finder;

/* One struct with many fields: a table of constants that is a provider's whole interface.
 */
struct vp_provider {
	const char *name;
	bool needs_guest;

	/* Optional, of a provider whose probes are in processes: these have names of their own, with the
	 * process's number behind them, in vp_probe.provider. Does @pattern, of a description, name such
	 * probes? */
	bool (*is_named)(const struct vp_probes *probes, const char *pattern);

	/* Required. Publish the probes that exist from the start. */
	struct ot_err *(*publish)(struct vp_probes *probes, const struct vp_provider *self);

	/* Optional. Publish the probes that came with a module of the guest; @before is the id of the last
	 * probe before them. */
	struct ot_err *(*arrive)(struct vp_probes *probes, const struct vp_provider *self,
				 const struct vp_module *module, uint32_t before);

	/* Optional. Create the probes that the description names; its provider field matches. */
	struct ot_err *(*provide)(struct vp_probes *probes, const struct vp_provider *self,
				  const struct dif_probedesc *desc);

	/* Optional, of such a provider. Does @pattern also match probes that come later, with new processes
	 * or new mappings of a process? As vp_probes_have_news(); not needed where another provider reads the
	 * same processes. */
	bool (*follows)(const struct vp_probes *probes, const char *pattern);
	struct ot_err *(*has_news)(struct vp_probes *probes, bool *ret);

	/* Optional. Does @pattern, of a description, match another name of the probe's module? */
	bool (*is_module)(const struct vp_probe *probe, const char *pattern);

	/* Optional. A description has matched the probe for the first time: resolve it for this guest.
	 * UNSUPPORTED: not available in this guest; -lv shows the text. A probe with VP_ARGS_SITE that is
	 * unavailable, or can't be planned, becomes one of kind AGENT if inside() has it. */
	struct ot_err *(*resolve)(struct vp_probes *probes, const struct vp_probe *probe);

	/* Optional (for probes without a place in the guest). As vp_probes_sites(). */
	struct ot_err *(*sites)(struct vp_probes *probes, const struct vp_probe *probe,
				struct vp_batch_site **ret, uint32_t *ret_count);

	/* Optional. Complete the engine's record, whose id, kind and args are filled. */
	void (*fill)(const struct vp_probe *probe, struct vp_batch_probe *bp);

	/* Optional; required of a provider with probes of kind AGENT. Fill `agent` of the engine's record for
	 * the probe's events inside the guest, as @agent reports them; false: the agent does not report them.
	 */
	bool (*inside)(const struct vp_probes *probes, const struct vp_probe *probe,
		       const struct vp_guest_agent *agent, struct vp_batch_event *ret);

	/* Optional, both or none: without them args[] has no types. As vp_probes_arg(), vp_probes_nargs(). */
	bool (*arg)(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		    struct dif_probe_arg *ret);
	int (*nargs)(struct vp_probes *probes, const struct vp_probe *probe);

	/* Optional. As vp_probes_describe(). */
	void (*describe)(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out);

	/* Optional. As vp_probes_asleep(). */
	const char *(*asleep)(const struct vp_probes *probes, const struct vp_probe *probe);

	/* Optional. As vp_probes_support(). */
	const struct vp_support *(*support)(const struct vp_probe *probe);

	/* Optional: the file of provider/d that defines the probes (definition.h). */
	const char *definitions;
};

/** Add a probe; its id is set, and its provider unless it has is_named(). Strings are borrowed: they must
 * live as long as the registry (literals, the guest's symbols, vp_probes_strdup()). Pass equal strings as
 * equal pointers where that costs nothing: matching caches results by pointer. */
OT_MUST_CHECK struct ot_err *vp_probes_add(struct vp_probes *probes, const struct vp_provider *provider,
					   const struct vp_probe *probe);

/** Is @p probe of @p provider? */
bool vp_probes_is_of(const struct vp_probes *probes, const struct vp_probe *probe,
		     const struct vp_provider *provider);

/** Name the function of a probe that was published without one, for resolve(): @p function is borrowed as the
 * strings of vp_probes_add() are. */
void vp_probes_set_function(struct vp_probes *probes, const struct vp_probe *probe, const char *function);

/** Has @p provider already published a probe of that name without module and function? */
bool vp_probes_has(struct vp_probes *probes, const struct vp_provider *provider, const char *name);

/** Memory for vp_probe.own, zeroed, that lives as long as the registry; NULL: out of memory. */
OT_MUST_CHECK void *vp_probes_alloc(struct vp_probes *probes, size_t size);
OT_MUST_CHECK char *vp_probes_strdup(struct vp_probes *probes, const char *s);

/** Add a site program (vmm-probe/engine/wire/batch.h), whose objects live as long as the registry; *ret is
 * its number, for `raw` and `program` of the sites of sites(). */
OT_MUST_CHECK struct ot_err *vp_probes_add_program(struct vp_probes *probes, const struct dif_clause *program,
						   uint32_t *ret);

/** This registry's compiled definitions (derivation.h). */
struct vp_derivation *vp_probes_derivation(struct vp_probes *probes);

/** Finds the sites of the guest's tracepoints (tracepoint_sites.h); NULL: no guest. */
struct vp_tracepoint_finder *vp_probes_tracepoints(struct vp_probes *probes);

/** As vp_probes_set_cpc() set it: UNSUPPORTED: @p event, which is valid, can't be counted here. */
OT_MUST_CHECK struct ot_err *vp_probes_test_cpc(const struct vp_probes *probes,
						const struct vp_cpc_event *event);

/** The reason passed to vp_probes_set_semaphores(); NULL: semaphores are raised. */
const char *vp_probes_no_semaphores(const struct vp_probes *probes);

/** The reason passed to vp_probes_set_processes(); NULL: this guest can have probes in processes. */
const char *vp_probes_no_processes(const struct vp_probes *probes);

/** A sentence for the operator, as vp_probes_set_say() has set it. */
void vp_probes_say(const struct vp_probes *probes, const char *text);

/** The process of -p; 0: none. */
uint64_t vp_probes_target(const struct vp_probes *probes);

/** Does @p pattern, of a description, name a provider whose probes are in no process? */
bool vp_provider_is_kernels(const char *pattern);

/** The guest's processes read so far: pid_process.c's; NULL until it has set it. */
struct vp_pid_processes **vp_probes_processes(struct vp_probes *probes);

/** The functions whose inlined copies are published: fbt_inlined.c's; NULL until it has set it. */
uint8_t **vp_probes_inlined(struct vp_probes *probes);

/** NULL: none. */
struct vp_guest *vp_probes_guest(struct vp_probes *probes);

/** Decides which sites can be trapped; NULL: probes of this guest need no traps. */
struct vp_planner *vp_probes_planner(struct vp_probes *probes);

/** The guest's text, read at the first call. UNSUPPORTED: there is no guest, or vp_arch_code(). */
OT_MUST_CHECK struct ot_err *vp_probes_text(struct vp_probes *probes, struct vp_text **ret);

#endif
