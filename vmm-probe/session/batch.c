/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Matching clauses against probes: each pair gets an EPID, its probe's sites are looked up, and it is added
 * to the batch of every engine that it concerns.
 *
 * BEGIN, END and tick are enabled on the host engine; a probe in a guest on that guest's engine; ERROR on
 * all, because any of them may have a fault, with an EPID for each.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/map.h"
#include "vmm-probe/session/agent.h"
#include "vmm-probe/session/batch.h"
#include "vmm-probe/session/drain.h"
#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/late.h"
#include "vmm-probe/session/modules.h"

/* ERROR in a guest. */
struct error_probe {
	uint32_t clause, registry;
	const struct vp_probe *probe;
};

/* Probes of one guest that are in its feed's batch already: id → index + 1. */
struct enabling {
	struct vp_session *s;
	uint32_t clause;
	uint32_t registry;          /* whose probes are being matched */
	struct ot_map *in_batch;    /* one for each feed */
	struct vp_feed *late;       /* of the only guest, a batch of its own for … */
	uint32_t after;             /* … probes with ids above this one. NULL: all of all guests */
	bool joins;                 /* all of the only guest `registry`, which joins the session */
	bool inside;                /* the view that is being enabled */
	struct error_probe *errors; /* enabled last: the other EPIDs are those without guests */
	size_t nerrors, errors_cap;
	bool in_guests; /* the clauses that are being enabled */
	struct ot_err *err;
};

static struct vp_probes *registry(struct vp_session *s, uint32_t i)
{
	return s->links.n ? s->links.items[i]->probes : s->host.probes;
}

/* The feed whose batch is being made: @nth's, or the late one of the only guest. */
static struct vp_feed *feed_of(const struct enabling *e, uint32_t nth)
{
	return e->late ? e->late : &e->s->feeds[nth];
}

static uint32_t add_string(struct vp_feed *feed, const char *text)
{
	uint32_t at = (uint32_t)feed->batch_strings.len;

	ot_buf_append(&feed->batch_strings, text, strlen(text) + 1);
	return at;
}

/* Record the owner (struct module) of sites in modules. */
static void name_owners(const struct vp_feed *feed, struct vp_batch_site *sites, uint32_t n)
{
	const struct vp_guest *guest = feed->link ? feed->link->guest : NULL;
	const struct vp_kernel *kernel = guest ? vp_guest_kernel(guest) : NULL;
	const struct vp_modules *modules = guest ? vp_guest_modules(guest) : NULL;

	for (uint32_t i = 0; modules && i < n; i++) {
		if (vp_batch_site_is_user(&sites[i]))
			continue;
		if (sites[i].gva - kernel->base.v < kernel->size)
			continue;
		for (size_t m = 0; m < modules->count && !sites[i].owner; m++)
			if (vp_module_room(&modules->list[m], sites[i].gva))
				sites[i].owner = modules->list[m].addr.v;
	}
}

static struct ot_err *add_sites(struct vp_session *s, struct vp_feed *feed, uint32_t reg,
				const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	ot_auto_free struct vp_batch_site *sites = NULL;

	if (probe->kind != VP_PROBE_SITE)
		return NULL;
	bp->first_site = (uint32_t)(feed->batch_sites.len / sizeof(*sites));
	OT_TRY(vp_probes_sites(registry(s, reg), probe, &sites, &bp->nsites));
	OT_TRY(vp_batch_add_programs(feed, sites, bp->nsites));
	name_owners(feed, sites, bp->nsites);
	ot_buf_append(&feed->batch_sites, sites, bp->nsites * sizeof(*sites));
	return NULL;
}

/* Add a probe to a feed's batch, once. */
static struct ot_err *add_probe(struct enabling *e, uint32_t nth, const struct vp_probe *probe,
				uint32_t *ret_index)
{
	struct vp_feed *feed = feed_of(e, nth);
	struct ot_map *map = &e->in_batch[e->late ? 0 : nth];
	const uint32_t key[] = { probe->id, e->inside };
	uintptr_t known = (uintptr_t)ot_map_get(map, key, sizeof(key));

	if (known) {
		*ret_index = (uint32_t)known - 1;
		return NULL;
	}
	struct vp_probes *probes = registry(e->s, e->registry);
	struct vp_batch_probe bp;
	/* vp_views_of() has excluded an agent that can't report the probe. */
	if (!e->inside || !vp_probes_inside(probes, probe, vp_probes_agent(probes, NULL), &bp))
		vp_probes_fill(probes, probe, &bp);
	if (nth == 0 && probe->kind == VP_PROBE_PROFILE)
		bp.kind = VP_PROBE_HOST;
	bp.provider = add_string(feed, probe->provider);
	bp.module = add_string(feed, probe->module);
	bp.function = add_string(feed, probe->function);
	bp.name = add_string(feed, probe->name);
	if (!e->inside)
		OT_TRY(add_sites(e->s, feed, e->registry, probe, &bp));
	uint32_t index = (uint32_t)(feed->batch_probes.len / sizeof(bp));
	ot_buf_append(&feed->batch_probes, &bp, sizeof(bp));
	if (!ot_map_put(map, key, sizeof(key), (void *)(uintptr_t)(index + 1)))
		return ot_err_nomem();
	*ret_index = index;
	return NULL;
}

static struct ot_err *add_ecb(struct enabling *e, uint32_t nth, const struct vp_probe *probe, uint32_t epid)
{
	struct vp_feed *feed = feed_of(e, nth);
	struct vp_batch_ecb ecb = { .epid = epid, .clause = e->clause };

	OT_TRY(add_probe(e, nth, probe, &ecb.probe));
	ot_buf_append(&feed->batch_ecbs, &ecb, sizeof(ecb));
	feed->has_work = true;
	return NULL;
}

static bool is_timer(const struct vp_probe *probe)
{
	return probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_PROFILE;
}

static struct ot_err *route(struct enabling *e, const struct vp_probe *probe, struct vp_enabled *enabled)
{
	struct vp_session *s = e->s;

	if (s->links.n && (probe->kind == VP_PROBE_ERROR ? e->in_guests : probe->kind != VP_PROBE_HOST)) {
		if (probe->kind != VP_PROBE_ERROR)
			OT_TRY(vp_link_take(&s->links, s->links.items[e->registry], probe));
		enabled->feed = e->registry + 1;
		return add_ecb(e, enabled->feed, probe, enabled->epid);
	}
	uint64_t interval_ns = is_timer(probe) ? vp_probes_interval(registry(s, e->registry), probe) : 0;
	if (interval_ns && !vp_tick_add(s, probe->id, interval_ns))
		return ot_err_nomem();
	return add_ecb(e, 0, probe, enabled->epid);
}

/* An EPID for a probe in one view. */
static struct ot_err *enable_view(struct enabling *e, const struct vp_probe *probe, bool inside)
{
	struct vp_session *s = e->s;

	struct vp_enabled *enabled = ot_arena_new(&s->arena, struct vp_enabled);

	if (!enabled || !ot_grow(&s->program.enabled, &s->program.enabled_cap, s->program.nenabled + 1,
				 sizeof(*s->program.enabled)))
		return ot_err_nomem();
	*enabled = (struct vp_enabled){
		.epid = (uint32_t)s->program.nenabled + 1,
		.clause_index = e->clause,
		.guest = e->registry,
		.clause = &s->program.prog->clauses[e->clause],
		.layout = &s->program.layouts[e->clause],
		.probe = probe,
	};
	s->program.enabled[s->program.nenabled++] = enabled;
	e->inside = inside;
	return route(e, probe, enabled);
}

static bool keep_error(struct enabling *e, const struct vp_probe *probe)
{
	if (!ot_grow(&e->errors, &e->errors_cap, e->nerrors + 1, sizeof(*e->errors))) {
		e->err = ot_err_nomem();
		return false;
	}
	e->errors[e->nerrors++] = (struct error_probe){ e->clause, e->registry, probe };
	return true;
}

static struct ot_err *enable_errors(struct enabling *e)
{
	e->in_guests = true;
	for (size_t i = 0; i < e->nerrors; i++) {
		e->clause = e->errors[i].clause;
		e->registry = e->errors[i].registry;
		OT_TRY(enable_view(e, e->errors[i].probe, false));
	}
	return NULL;
}

static bool enable_one(void *arg, const struct vp_probe *probe)
{
	struct enabling *e = arg;
	struct vp_session *s = e->s;

	const char *of_guest = s->program.prog->clauses[e->clause].probe.guest;
	/* dtrace:::, tick: there is one host engine, independent of the number of guests, and it is not one
	 * of them */
	bool named = of_guest && *of_guest;

	if (!vp_session_fires(s, probe))
		return true;
	if (probe->kind == VP_PROBE_ERROR && !named && !e->late && s->links.n &&
	    vp_link_runs(s->links.items[e->registry]) && !keep_error(e, probe))
		return false;
	if ((e->registry > 0 || named) && (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR))
		return true;
	if (e->late && !vp_late_fits(s, e->clause, e->registry, probe))
		return true;
	if (e->joins && !vp_late_args_fit(s, e->clause, e->registry, probe))
		return true;
	unsigned views = vp_views_of(s, e->registry, probe);

	if (views & VP_VIEW_OUTSIDE)
		e->err = enable_view(e, probe, false);
	if (!e->err && views & VP_VIEW_INSIDE)
		e->err = enable_view(e, probe, true);
	return e->err == NULL;
}

bool vp_clause_wants_guest(const struct vp_session *s, const struct dif_clause *clause, uint32_t guest)
{
	const char *pattern = clause->probe.guest;

	if (clause->guest)
		return clause->guest == guest + 1;
	if (s->links.n && clause->kernel != s->kernels.of[guest])
		return false;
	return !pattern || !*pattern ||
	       (s->links.n && dif_glob_match(pattern, s->links.items[guest]->client.guest_name));
}

static struct ot_err *enable_late(struct enabling *e)
{
	const struct dif_clause *clause = &e->s->program.prog->clauses[e->clause];
	uint64_t count;

	if (!vp_clause_wants_guest(e->s, clause, e->registry))
		return NULL;
	OT_TRY(vp_probes_match_to_enable(registry(e->s, e->registry), &clause->probe, e->after, enable_one, e,
					 &count));
	return e->err;
}

static struct ot_err *enable_in(struct enabling *e)
{
	struct vp_session *s = e->s;
	const struct dif_clause *clause = &s->program.prog->clauses[e->clause];
	uint64_t count = 0;

	if (!vp_clause_wants_guest(s, clause, e->registry))
		return NULL;
	OT_TRY(vp_probes_match_to_enable(registry(s, e->registry), &clause->probe, 0, enable_one, e, &count));
	return e->err;
}

static struct ot_err *enable_clause(struct enabling *e)
{
	uint32_t nregistries = e->s->links.n ? e->s->links.n : 1;

	if (e->late)
		return enable_late(e);
	if (e->joins)
		return enable_in(e);
	for (e->registry = 0; e->registry < nregistries; e->registry++)
		OT_TRY(enable_in(e));
	return NULL;
}

/* The order of a clause at a place that it shares with others. */
enum stage { BEFORE, OWN, AFTER, STAGES };

static enum stage stage_of(const struct dif_clause *clause)
{
	return !clause->guest ? OWN : clause->after ? AFTER : BEFORE;
}

/* At one place, ECBs run in the order in which they are enabled. */
static struct ot_err *enable_all(struct enabling *e)
{
	const struct dif_program *prog = e->s->program.prog;

	for (unsigned stage = BEFORE; stage < STAGES; stage++)
		for (e->clause = 0; e->clause < prog->nclauses; e->clause++)
			if (stage_of(&prog->clauses[e->clause]) == stage)
				OT_TRY(enable_clause(e));
	return enable_errors(e);
}

struct ot_err *vp_batch_reread(struct vp_session *s, struct vp_feed *feed)
{
	struct vp_probes *probes = feed->link->probes;
	struct vp_batch_probe *list = (void *)feed->batch_probes.data;
	size_t n = feed->batch_probes.len / sizeof(*list);

	vp_probes_forget_text(probes);
	ot_buf_clear(&feed->batch_sites);
	vp_batch_programs_clear(&feed->batch_programs);
	for (size_t i = 0; i < n; i++)
		if (list[i].kind == VP_PROBE_SITE)
			OT_TRY(add_sites(s, feed, feed->guest, vp_probes_get(probes, list[i].id), &list[i]));
		else if (list[i].kind == VP_PROBE_SENTINEL)
			OT_TRY(vp_batch_sentinel_sites(feed, &list[i]));
		else if (list[i].kind == VP_PROBE_AGENT_CALL)
			OT_TRY(vp_batch_agent_sites(feed, &list[i]));
	OT_TRY(vp_batch_write_programs(feed));
	OT_TRY(vp_batch_buffers_check(feed));
	return vp_batch_check_registers(feed);
}

/* Complete a batch from its probes. */
static struct ot_err *complete(struct vp_feed *feed)
{
	OT_TRY(vp_batch_add_agent(feed));
	OT_TRY(vp_batch_add_sentinels(feed));
	OT_TRY(vp_batch_write_programs(feed));
	if (!feed->batch_strings.len) /* only sentinels, which need no names */
		ot_buf_append(&feed->batch_strings, "", 1);
	return vp_batch_buffers_check(feed);
}

static struct ot_err *finish(struct vp_feed *feed)
{
	if (feed->link)
		OT_TRY(vp_batch_check_registers(feed));
	return complete(feed);
}

/* The batch of feed @only, or of all. */
static struct ot_err *make(struct enabling *e, uint32_t only)
{
	ot_auto_free struct ot_map *maps = calloc(e->s->nfeeds, sizeof(*maps));

	if (!maps)
		return ot_err_nomem();
	e->in_batch = maps;
	struct ot_err *err = enable_all(e);
	free(e->errors);
	for (uint32_t i = 0; i < e->s->nfeeds; i++) {
		ot_map_deinit(&maps[i]);
		if (!err && (!only || i == only))
			err = finish(&e->s->feeds[i]);
	}
	return err;
}

struct ot_err *vp_batches_make(struct vp_session *s)
{
	struct enabling e = { .s = s };

	return make(&e, 0);
}

struct ot_err *vp_batch_make_joining(struct vp_session *s, uint32_t nth)
{
	struct enabling e = { .s = s, .registry = nth - 1, .joins = true };

	return make(&e, nth);
}

struct ot_err *vp_batch_make_late(struct vp_session *s, uint32_t nth, uint32_t after, struct vp_feed *late)
{
	struct ot_map map = { 0 };
	struct enabling e = { .s = s, .registry = nth - 1, .in_batch = &map, .late = late, .after = after };

	ot_map_init(&map);
	struct ot_err *err = enable_all(&e);
	ot_map_deinit(&map);
	if (!err)
		err = vp_batch_check_registers(late);
	return err ? err : complete(late);
}
