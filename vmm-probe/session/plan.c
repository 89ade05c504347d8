/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --plan: lists where a program's probes would be planted, and how. Nothing in a guest changes. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/sentinels.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/modules.h"

/* The sites of one guest, while they are collected. */
struct gathering {
	struct vp_session *s;
	uint32_t guest;
	struct vp_planned *list;
	size_t n, cap;
	struct ot_err *err;
};

static struct ot_err *add(struct gathering *g, struct vp_batch_site *sites, uint32_t n)
{
	struct vp_planner *planner = vp_probes_planner(g->s->links.items[g->guest]->probes);

	if (!ot_grow(&g->list, &g->cap, g->n + n + 1, sizeof(*g->list)))
		return ot_err_nomem();
	for (uint32_t i = 0; i < n; i++) {
		struct vp_planned *p = &g->list[g->n++];
		*p = (struct vp_planned){ .guest = g->guest, .trapped = planner != NULL };
		if (sites[i].sentinel)
			p->verdict.covers = vp_planner_covers(&sites[i]);
		else if (planner)
			p->verdict = vp_planner_site(planner, &sites[i]);
		p->site = sites[i];
	}
	return NULL;
}

static struct ot_err *gather(struct gathering *g, const struct vp_probe *probe)
{
	ot_auto_free struct vp_batch_site *sites = NULL;
	uint32_t n;

	OT_TRY(vp_probes_sites(g->s->links.items[g->guest]->probes, probe, &sites, &n));
	return add(g, sites, n);
}

static bool gather_probe(void *arg, const struct vp_probe *probe)
{
	struct gathering *g = arg;

	if (probe->kind == VP_PROBE_SITE)
		g->err = gather(g, probe);
	return !g->err;
}

static bool changes_text(const struct gathering *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->list[i].trapped && g->list[i].verdict.covers)
			return true;
	return false;
}

static bool has_branches(const struct gathering *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->list[i].site.target && g->list[i].verdict.covers)
			return true;
	return false;
}

/* A backend that changes text needs sentinels; those of modules notify it of them. */
static struct ot_err *gather_sentinels(struct gathering *g, const struct dif_program *prog)
{
	const struct vp_guest_link *link = g->s->links.items[g->guest];
	ot_auto_free struct vp_batch_site *sites = NULL;
	bool follows = link->client.traps & VP_TRAPS_TEXT && vp_modules_wanted(g->s, prog, g->guest);
	uint32_t n;

	if (!follows && !changes_text(g))
		return NULL;
	const struct vp_sentinels_wish wish = { .text = true, .keys = has_branches(g), .modules = follows };
	OT_TRY(vp_sentinels_find(link->probes, link->client.traps, &wish, &sites, &n));
	return add(g, sites, n);
}

/* A probe before a sentinel at the same place. */
static int by_address(const void *a, const void *b)
{
	const struct vp_planned *x = a, *y = b;

	if (x->site.gva != y->site.gva)
		return x->site.gva < y->site.gva ? -1 : 1;
	return (x->site.sentinel != VP_SENTINEL_NONE) - (y->site.sentinel != VP_SENTINEL_NONE);
}

/* Probes may share a place: each place is reported once. */
static struct ot_err *report(struct gathering *g, bool (*each)(void *arg, const struct vp_planned *),
			     void *arg)
{
	size_t in_registers = 0;
	bool users = false;

	if (g->n)
		qsort(g->list, g->n, sizeof(*g->list), by_address);
	for (size_t i = 0; i < g->n; i++) {
		if (i && g->list[i].site.gva == g->list[i - 1].site.gva)
			continue;
		in_registers += g->list[i].verdict.kind == VP_PLAN_HW;
		users |= g->list[i].verdict.kind == VP_PLAN_HW && vp_batch_site_is_user(&g->list[i].site);
		if (!each(arg, &g->list[i]))
			break;
	}
	return vp_check_debug_registers(in_registers, users);
}

static struct ot_err *plan_guest(struct gathering *g, const struct dif_program *prog,
				 bool (*each)(void *arg, const struct vp_planned *), void *arg)
{
	for (uint32_t i = 0; i < prog->nclauses; i++) {
		uint64_t count;
		if (!vp_clause_wants_guest(g->s, &prog->clauses[i], g->guest))
			continue;
		OT_TRY(vp_probes_match(g->s->links.items[g->guest]->probes, &prog->clauses[i].probe, false,
				       gather_probe, g, &count));
		if (g->err)
			return g->err;
	}
	OT_TRY(gather_sentinels(g, prog));
	return report(g, each, arg);
}

struct ot_err *vp_session_plan(struct vp_session *s, struct dif_program *prog,
			       bool (*each)(void *arg, const struct vp_planned *planned), void *arg)
{
	OT_TRY(vp_support_add(s, prog));
	for (uint32_t i = 0; i < s->links.n; i++) {
		struct gathering g = { .s = s, .guest = i };
		struct ot_err *err = plan_guest(&g, prog, each, arg);

		free(g.list);
		if (err)
			return err;
	}
	return NULL;
}
