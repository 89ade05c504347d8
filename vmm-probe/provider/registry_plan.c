/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Determines whether a probe can be placed: its form in this guest, its sites, and the trap of each.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/provider/registry_internal.h"
#include "vmm-probe/provider/sentinels.h"

void vp_plans_forget(struct vp_probes *probes)
{
	for (uint32_t id = 1; probes->planner && id <= probes->count; id++) {
		struct vp_probe_entry *e = vp_probe_entry(probes, id);

		free(e->sites);
		if (e->plan_refused)
			e->probe.refused = NULL;
		e->sites = NULL;
		e->nsites = 0;
		e->planned = e->plan_refused = false;
	}
}

struct ot_err *vp_probes_plan(struct vp_probes *probes, uint32_t traps, enum vp_trap_wish wish,
			      const struct vp_text_undo *undo)
{
	struct vp_planner *planner;

	OT_TRY(vp_planner_check(traps, wish));
	OT_TRY(vp_planner_create(probes->guest, traps, wish, &planner));
	vp_probes_forget_text(probes);
	probes->undo = undo ? *undo : (struct vp_text_undo){ 0 };
	vp_planner_destroy(probes->planner);
	probes->planner = planner;
	probes->traps = traps;
	probes->keys_checked = false;
	return NULL;
}

struct vp_planner *vp_probes_planner(struct vp_probes *probes)
{
	return probes->planner;
}

void vp_probes_forget_text(struct vp_probes *probes)
{
	vp_plans_forget(probes);
	vp_text_destroy(probes->text);
	probes->text = NULL;
}

/* A probe that is unavailable from outside, and that the agent reports, is only inside. */
static bool is_only_inside(const struct vp_probes *probes, struct vp_probe_entry *e)
{
	struct vp_batch_probe bp;

	if (e->probe.args != VP_ARGS_SITE ||
	    !vp_probes_inside(probes, &e->probe, vp_probes_agent(probes, NULL), &bp))
		return false;
	e->probe.kind = VP_PROBE_AGENT;
	e->probe.args = VP_ARGS_AGENT;
	return true;
}

/* A fault of the guest's refuses the probe; a fault of this process is an error. */
static struct ot_err *refuse(struct vp_probes *probes, struct vp_probe_entry *e, struct ot_err *err)
{
	switch (ot_err_code(err)) {
	case OT_ERR_UNSUPPORTED:
	case OT_ERR_FAULT:
	case OT_ERR_BAD_DATA:
	case OT_ERR_LIMIT:
		break;
	default:
		return err;
	}
	if (is_only_inside(probes, e)) {
		ot_err_destroy(err);
		return NULL;
	}
	e->probe.refused = vp_probes_strdup(probes, ot_err_message(err));
	e->plan_refused = true;
	ot_err_destroy(err);
	return e->probe.refused ? NULL : ot_err_nomem();
}

/* Can the kernel's patching of branches on static keys be watched? */
static struct ot_err *check_keys(struct vp_probes *probes)
{
	struct ot_err *err = vp_sentinels_check_keys(probes, probes->traps);

	if (err && ot_err_code(err) == OT_ERR_NO_MEMORY)
		return err;
	probes->keys_refused = err ? vp_probes_strdup(probes, ot_err_message(err)) : NULL;
	bool lost = err && !probes->keys_refused;
	ot_err_destroy(err);
	if (lost)
		return ot_err_nomem();
	probes->keys_checked = true;
	return NULL;
}

static struct ot_err *check_branch(struct vp_probes *probes, const struct vp_batch_site *site)
{
	if (!site->target || site->trap == VP_SITE_HW)
		return NULL;
	if (!probes->keys_checked)
		OT_TRY(check_keys(probes));
	return probes->keys_refused ? ot_err_new(OT_ERR_UNSUPPORTED, "%s", probes->keys_refused) : NULL;
}

/* All or none: a return probe that misses an exit would count wrong. */
static struct ot_err *decide(struct vp_probes *probes, struct vp_probe_entry *e)
{
	/* without a function of its own it is defined over probes that are already planned */
	const char *why = e->probe.gva ? vp_planner_function(probes->planner, e->probe.gva) : NULL;

	if (why)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s", why);
	OT_TRY(e->provider->sites(probes, &e->probe, &e->sites, &e->nsites));
	why = vp_planner_together(probes->planner, e->sites, e->nsites);
	if (why)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s", why);
	for (uint32_t i = 0; i < e->nsites; i++) {
		struct vp_verdict v = vp_planner_site(probes->planner, &e->sites[i]);
		if (v.kind != VP_PLAN_REFUSE) {
			OT_TRY(check_branch(probes, &e->sites[i]));
			continue;
		}
		if (e->nsites == 1)
			return ot_err_new(OT_ERR_UNSUPPORTED, "%s", v.why);
		if (!e->probe.gva)
			return ot_err_new(OT_ERR_UNSUPPORTED, "its place %u of %u: %s", i + 1, e->nsites,
					  v.why);
		return ot_err_new(OT_ERR_UNSUPPORTED, "exit %u of %u, at +0x%x: %s", i + 1, e->nsites,
				  e->sites[i].offset, v.why);
	}
	return NULL;
}

/* A guest never gains features that it lacks. */
static struct ot_err *resolve(struct vp_probes *probes, struct vp_probe_entry *e)
{
	if (e->resolved || e->probe.refused || !e->provider->resolve)
		return NULL;
	e->resolved = true;
	struct ot_err *err = e->provider->resolve(probes, &e->probe);
	if (err)
		err = refuse(probes, e, err);
	e->plan_refused = false;
	return err;
}

struct ot_err *vp_probe_plan(struct vp_probes *probes, struct vp_probe_entry *e)
{
	OT_TRY(resolve(probes, e));
	if (!probes->planner || e->planned || e->probe.refused || e->probe.kind != VP_PROBE_SITE ||
	    !e->provider->sites)
		return NULL;
	struct ot_err *err = decide(probes, e);
	e->planned = true;
	if (!err)
		return NULL;
	free(e->sites);
	e->sites = NULL;
	e->nsites = 0;
	return refuse(probes, e, err);
}

struct ot_err *vp_probes_sites(struct vp_probes *probes, const struct vp_probe *probe,
			       struct vp_batch_site **ret, uint32_t *ret_count)
{
	struct vp_probe_entry *e = vp_probe_entry(probes, probe->id);
	const struct vp_provider *p = e->provider;

	OT_TRY(vp_probe_plan(probes, e));
	if (probe->refused)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s:%s:%s:%s: %s", probe->provider, probe->module,
				  probe->function, probe->name, probe->refused);
	if (!p->sites) {
		*ret = NULL;
		*ret_count = 0;
		return NULL;
	}
	if (e->planned) {
		*ret = malloc((e->nsites + 1u) * sizeof(**ret));
		if (!*ret)
			return ot_err_nomem();
		if (e->nsites)
			memcpy(*ret, e->sites, e->nsites * sizeof(**ret));
		*ret_count = e->nsites;
		return NULL;
	}
	return ot_err_prefix(p->sites(probes, probe, ret, ret_count), "%s:%s:%s:%s", probe->provider,
			     probe->module, probe->function, probe->name);
}
