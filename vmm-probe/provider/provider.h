/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes of one guest (or of none): what exists, what matches a description, where its sites
 * are. One file a provider; each publishes into the registry. Operator's process, one thread.
 *
 * Probe ids are dense from 1: dtrace:::BEGIN 1, END 2, ERROR 3, then the rest in the order in
 * which providers publish; a probe that is created on demand (profile-997) comes behind.
 */
#ifndef VP_PROVIDER_PROVIDER_H
#define VP_PROVIDER_PROVIDER_H

#include "dif/lang/compile.h"
#include "dif/obj/program.h"
#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/protocol.h"
#include "vmm-probe/planner/planner.h"
#include "vmm-probe/provider/text.h"

struct vp_guest_agent;
struct vp_guest;  /* vmm-probe/guest/guest.h */
struct vp_types;  /* vmm-probe/guest/btf_types.h */
struct vp_probes; /* the registry */

/* A probe. Strings are the registry's. */
struct vp_probe {
	uint32_t id;
	enum vp_probe_kind kind;
	enum vp_args args;
	const char *provider, *module, *function, *name;
	uint64_t gva;        /* function's or tracepoint's address; 0 for probes without */
	uint64_t size;       /* function's bytes, 0 unknown */
	const void *own;     /* its provider's; NULL: nothing */
	const char *refused; /* why it can't be enabled; NULL: it can. Refused ones are shown by -lv only */
};

/** Make the registry and publish every provider's probes. @p guest may be NULL (no guest: dtrace,
 * profile and tick); borrowed. */
OT_MUST_CHECK struct ot_err *vp_probes_create(struct vp_guest *guest, struct vp_probes **ret);
void vp_probes_destroy(struct vp_probes *probes);

/**
 * The guest's text has to be changed for a probe: from now on a probe exists only where each of its sites can
 * be trapped; else it is refused, with the reason. That is found out when a description first matches it.
 * @p traps as in vp_planner_create(), not 0. @p undo (copied; NULL: none) tells what other sessions have in
 * that text. UNSUPPORTED: the engine can't do what @p wish asks for.
 */
OT_MUST_CHECK struct ot_err *vp_probes_plan(struct vp_probes *probes, uint32_t traps, enum vp_trap_wish wish,
					    const struct vp_text_undo *undo);

/** Publish the vm provider's probes, with @p n statistics of these names (copied). @p refused (copied): why
 * there are none, for -lv; NULL: there are. */
OT_MUST_CHECK struct ot_err *vp_probes_add_vm(struct vp_probes *probes, char (*stats)[VP_VM_STAT_NAME],
					      uint32_t n, const char *refused);

/** The guest's text has changed: forget what was read of it, and what was decided by that. */
void vp_probes_forget_text(struct vp_probes *probes);

uint32_t vp_probes_count(const struct vp_probes *probes);

/** By id; NULL when there is none. Valid until the registry goes. */
const struct vp_probe *vp_probes_get(const struct vp_probes *probes, uint32_t id);

/** Call @p each for every probe that matches, in order of id, until it returns false. Probes that
 * exist on demand are made. Refused probes only with @p with_refused. A function of which there are only the
 * compiler's copies (vp_function_is_copy()) is matched by these. */
OT_MUST_CHECK struct ot_err *vp_probes_match(struct vp_probes *probes, const struct dif_probedesc *desc,
					     bool with_refused,
					     bool (*each)(void *arg, const struct vp_probe *probe), void *arg,
					     uint64_t *ret_count);

/** What may have been meant by a description that matches nothing: the nearest probe, or how profile's are
 * called. Appended to @p out; false: nothing is near. */
bool vp_probes_hint(const struct vp_probes *probes, const struct dif_probedesc *desc, struct ot_buf *out);

/** Is function @p name what a compiler made of function @p of, for some of its callers or for all:
 * name.isra.0, name.constprop.0, name.llvm.123? (name.part.0 and name.cold are only pieces of it.) */
bool vp_function_is_copy(const char *name, const char *of);

/** The places where a probe fires: entry one, return one for each way out. Reads and disassembles
 * the guest's text. *ret is owned by the caller (free()); all but what concerns sentinels is filled. */
OT_MUST_CHECK struct ot_err *vp_probes_sites(struct vp_probes *probes, const struct vp_probe *probe,
					     struct vp_batch_site **ret, uint32_t *ret_count);

/** The engine's record of a probe, but for its strings and sites, whose fields are 0. */
void vp_probes_fill(const struct vp_probes *probes, const struct vp_probe *probe, struct vp_batch_probe *ret);

/** The same of its events inside the guest, as @p agent reports them; false, and nothing done: it does not.
 */
bool vp_probes_inside(const struct vp_probes *probes, const struct vp_probe *probe,
		      const struct vp_guest_agent *agent, struct vp_batch_probe *ret);

/** How often a timer has it fire, ns; 0: none does. */
uint64_t vp_probes_interval(const struct vp_probes *probes, const struct vp_probe *probe);

/** args[n], as struct dif_world's probe_arg has it; and how many there are (-1: untyped). */
bool vp_probes_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		   struct dif_probe_arg *ret);

int vp_probes_nargs(struct vp_probes *probes, const struct vp_probe *probe);

/** The agent in the guest; NULL: it has none that can be used, and *ret_why (may be NULL) says why not, or is
 * NULL where the guest has none at all. */
const struct vp_guest_agent *vp_probes_agent(const struct vp_probes *probes, const char **ret_why);

/** The guest's C types (for struct dif_world's find_type and so on); the registry's. NULL: no guest. */
struct vp_types *vp_probes_types(struct vp_probes *probes);

#endif
