/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plan: the sites of all sessions in one table, the kernel's by host address, then those in processes by
 * process and address, then those in files by file and offset, each with its ECBs in order of enabling. It is
 * rebuilt at every change, which is rare, and is immutable while a backend has it, so vCPUs read it without
 * synchronisation.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/service/parts.h"

/* An ECB on a site, or a sentinel (which has none), before grouping. */
struct item {
	uint64_t root; /* of the process's page table; 0: in the kernel, or … */
	uint64_t file; /* … in a file */
	uint64_t host, gva;
	uint64_t order; /* session, then ECB */
	uint64_t batch;
	const struct vp_enabled_site *site;
	struct vp_engine_session *es;
	struct vp_ecb *ecb; /* NULL: a sentinel */
};

/* A plan is one allocation; this is the part before the arrays. */
struct plan_memory {
	struct vp_plan plan;
	struct vp_site *sites;
	struct vp_ecb **ecbs;
	uint32_t *counters;
	const struct vp_enabled_site **enabled;
};

static bool is_user(const struct item *item)
{
	return item->root || item->file;
}

static int by_bytes(const struct vp_enabled_site *a, const struct vp_enabled_site *b)
{
	return memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

/* All of the kernel's are before those in processes, which have no host address. A page table's memory may
 * have been a process's that has ended, with another instruction at the address. */
static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->root != y->root)
		return x->root < y->root ? -1 : 1;
	if (is_user(x) && x->gva != y->gva)
		return x->gva < y->gva ? -1 : 1;
	if (is_user(x) && by_bytes(x->site, y->site))
		return by_bytes(x->site, y->site);
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static size_t add_item(struct item *items, size_t n, uint32_t session, const struct vp_enabled_batch *batch,
		       const struct vp_enabled_site *site, struct vp_engine_session *es, struct vp_ecb *ecb)
{
	if (items)
		items[n] = (struct item){
			.root = site->probe->process.pid ? site->probe->process.root : 0,
			.file = site->probe->file,
			.host = site->host,
			.gva = site->gva,
			.order = (uint64_t)session << 32 | (ecb ? ecb->order : 0),
			.ecb = ecb,
			.es = es,
			.batch = batch->number,
			.site = site,
		};
	return n + 1;
}

/* Add a site's items to the plan: the site itself, if the engine wants it without an ECB, and each ECB in
 * force. */
static size_t add_items(struct item *items, size_t n, uint32_t session, const struct vp_enabled_batch *batch,
			const struct vp_enabled_site *site, struct vp_engine_session *es)
{
	if (site->stale)
		return n;
	if (site->sentinel || site->agent)
		n = add_item(items, n, session, batch, site, es, NULL);
	for (struct vp_ecb *e = site->probe->first; e; e = e->next)
		if (!e->out)
			n = add_item(items, n, session, batch, site, es, e);
	return n;
}

static size_t each_item(const struct vp_engine *engine, struct item *items)
{
	size_t n = 0;

	for (uint32_t s = 0; s < engine->service->nsessions; s++) {
		struct vp_engine_session *es = engine->service->sessions[s];
		if (!es->service->planned)
			continue;
		vp_each_batch(b, es)
			for (uint32_t i = 0; i < b->nsites; i++)
				n = add_items(items, n, s, b, &b->sites[i], es);
	}
	return n;
}

static void free_plan(struct vp_plan *plan)
{
	if (!plan)
		return;
	struct plan_memory *m = OT_CONTAINER_OF(plan, struct plan_memory, plan);
	free(m->sites);
	free(m->ecbs);
	free(m->counters);
	free(m->enabled);
	vp_cpc_free(plan->cpcs);
	free(m);
}

static bool alloc_plan(size_t nitems, struct plan_memory **ret)
{
	struct plan_memory *m = calloc(1, sizeof(*m));

	if (!m)
		return false;
	m->sites = calloc(nitems + 1, sizeof(*m->sites));
	m->ecbs = calloc(nitems + 1, sizeof(*m->ecbs));
	m->counters = calloc(nitems + 1, sizeof(*m->counters));
	m->enabled = calloc(nitems + 1, sizeof(*m->enabled));
	if (!m->sites || !m->ecbs || !m->counters || !m->enabled) {
		free_plan(&m->plan);
		return false;
	}
	m->plan.sites = m->sites;
	*ret = m;
	return true;
}

static bool is_same_place(const struct item *a, const struct item *b)
{
	if (is_user(a) || is_user(b))
		return a->root == b->root && a->file == b->file && a->gva == b->gva &&
		       !by_bytes(a->site, b->site);
	return a->host == b->host;
}

/* The plan's next site, without ECBs. */
static struct vp_site *add_site(struct plan_memory *m, const struct item *item)
{
	struct vp_site *site = &m->sites[m->plan.nsites + m->plan.nusers];

	*(is_user(item) ? &m->plan.nusers : &m->plan.nsites) += 1;
	site->gva = item->gva;
	site->host = item->host;
	site->length = item->site->length;
	site->room = item->site->room;
	site->target = item->site->target;
	site->trap = item->site->trap;
	memcpy(site->bytes, item->site->bytes, sizeof(site->bytes));
	site->es = item->es;
	site->plan = &m->plan;
	site->root = item->root;
	site->file = item->file;
	site->root_mask = item->es->facts.user_pgd_mask;
	return site;
}

/* Two ECBs of one clause may share a counter: each hit adds 1 for each of them. */
static void group(struct plan_memory *m, const struct item *items, size_t n)
{
	struct vp_plan *plan = &m->plan;
	struct vp_site *site = NULL;
	size_t necbs = 0, ncounters = 0;

	for (size_t i = 0; i < n; i++) {
		struct vp_ecb *ecb = items[i].ecb;
		if (!i || !is_same_place(&items[i], &items[i - 1])) {
			site = add_site(m, &items[i]);
			site->ecbs = &m->ecbs[necbs];
			site->counters = &m->counters[ncounters];
			site->enabled = &m->enabled[necbs];
		}
		if (site->batch < items[i].batch)
			site->batch = items[i].batch;
		if (!ecb) {
			if (items[i].site->sentinel) {
				site->sentinel = items[i].site->sentinel;
				site->pushed = items[i].site->pushed;
			}
			site->agent |= items[i].site->agent;
			site->trap = VP_SITE_TEXT; /* and not the debug register that another session wants */
			continue;
		}
		/* A site with a condition can't be counted inline; its ECB counts by firing there. */
		if (ecb->counter && !vp_site_is_conditional(items[i].site)) {
			m->counters[ncounters++] = ecb->counter->slot;
			site->ncounters++;
			if (ecb->counter->slot >= plan->ncounters)
				plan->ncounters = ecb->counter->slot + 1;
		} else {
			m->enabled[necbs] = items[i].site;
			m->ecbs[necbs++] = ecb;
			site->necbs++;
			site->regs |= vp_site_regs(items[i].site, ecb->clause) | ecb->es->service->error_regs;
		}
	}
}

/* Shrinking keeps the plan small where several ECBs share sites; if it fails, the old block stays. */
static void trim(struct plan_memory *m)
{
	struct vp_site *sites = realloc(m->sites, (m->plan.nsites + m->plan.nusers + 1ull) * sizeof(*sites));

	if (sites)
		m->sites = m->plan.sites = sites;
}

static void ask_costs(const struct vp_engine *engine, struct vp_plan *plan)
{
	for (uint32_t i = 0; engine->ops->hit_cost_ns && i < plan->nsites + plan->nusers; i++)
		plan->sites[i].cost_ns = engine->ops->hit_cost_ns(engine->backend, &plan->sites[i]);
}

static struct ot_err *build(struct vp_engine *engine, struct vp_plan **ret)
{
	size_t n = each_item(engine, NULL);
	struct plan_memory *m = NULL;
	bool profiling = vp_profile_wanted(engine);
	uint32_t vm_events = vp_vm_events(engine), ncpcs;
	struct vp_cpc *cpcs;

	*ret = NULL;
	OT_TRY(vp_cpc_plan(engine, &cpcs, &ncpcs));
	if (!n && !profiling && !vm_events && !ncpcs)
		return NULL;
	struct item *items = malloc((n + 1) * sizeof(*items));
	if (!items || !alloc_plan(n, &m)) {
		free(items);
		vp_cpc_free(cpcs);
		return ot_err_nomem();
	}
	each_item(engine, items);
	qsort(items, n, sizeof(*items), by_place);
	group(m, items, n);
	free(items);
	trim(m);
	vp_resident_plan(engine, &m->plan);
	ask_costs(engine, &m->plan);
	m->plan.profiling = profiling;
	m->plan.vm_events = vm_events;
	m->plan.cpcs = cpcs;
	m->plan.ncpcs = ncpcs;
	*ret = &m->plan;
	return NULL;
}

struct ot_err *vp_replan(struct vp_engine *engine)
{
	struct vp_plan *plan = NULL;

	engine->service->replan = true;
	vp_stale_check(engine);
	OT_TRY(build(engine, &plan));
	if (!plan)
		vp_resident_plan(engine, NULL);
	struct ot_err *unprepared = plan ? vp_early_prepare(engine, plan) : NULL;
	if (unprepared) {
		free_plan(plan);
		return unprepared;
	}
	if (plan || engine->service->plan) {
		struct ot_err *err = engine->ops->install(engine->backend, plan);
		if (err) {
			free_plan(plan);
			return ot_err_prefix(err, "planting probes");
		}
	}
	engine->service->replan = false;
	vp_quiesce(engine);
	free_plan(engine->service->plan);
	engine->service->plan = plan;
	return NULL;
}
