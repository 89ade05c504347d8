/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which sites of a plan have a trampoline. A site with the same ECBs as in the last plan keeps its own, since
 * room is never reused.
 */
#include "vmm-probe/engine/service/resident.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/engine/service/parts.h"
#include "vmm-probe/engine/service/records.h"
#include "vmm-probe/trampoline/trampoline.h"

#define ALIGNMENT          16u /* of code */
#define CLAUSES            64u /* of a site, at most */
#define SETS_LOG_PER_PROBE 4u  /* of tables of keys of which each probe has its own: there may be many */
#define NO_ROOM                                                                                        \
	"the room for them is used up, which only the guest's next start gives back: more probes are " \
	"trapped"

struct vp_resident_site {
	uint64_t host, gva;
	uint64_t jump, exit;   /* as in struct vp_site */
	uint32_t first, necbs; /* in vp_resident.ecbs */
	bool records;          /* it writes some */
};

/* --- which sites qualify ---------------------------------------------------------------------------------- */

/* A function's entry or return that fires without a condition that only the host can check. */
static bool qualifies(const struct vp_enabled_site *site)
{
	return site->end.place != VP_TRAMP_NOWHERE && site->trap == VP_SITE_TEXT && !site->target &&
	       !site->sentinel && !site->agent && !vp_site_is_conditional(site) && !site->raw &&
	       !site->program;
}

bool vp_resident_qualifies(const struct vp_enabled_batch *batch, const struct vp_ecb *ecb)
{
	const struct vp_enabled_probe *probe = ecb->probe;

	if (!(ecb->es->open.flags & VP_OPEN_RESIDENT) || !ecb->es->engine->ops->resident || !probe->nsites)
		return false;
	for (uint32_t i = 0; i < probe->nsites; i++)
		if (!qualifies(&batch->sites[probe->first_site + i]))
			return false;
	return true;
}

static bool session_wants(const struct vp_engine_session *es)
{
	return es->open.flags & VP_OPEN_RESIDENT && !es->open.only_cpu;
}

static const char *why_none(const struct vp_site *site)
{
	for (uint32_t i = 0; i < site->necbs; i++)
		if (site->enabled[i]->no_place)
			return site->enabled[i]->no_place;
	return "more than its clauses' predicates decides about it, or another session traps it";
}

/* All sessions at the site want a trampoline, and trace the same kernel. */
static bool is_wanted_by_all(const struct vp_site *site)
{
	if (!site->necbs || site->necbs > CLAUSES || site->ncounters || site->sentinel || site->agent)
		return false;
	for (uint32_t i = 0; i < site->necbs; i++)
		if (!qualifies(site->enabled[i]) || !session_wants(site->ecbs[i]->es) ||
		    site->ecbs[i]->es->kernel != site->es->kernel ||
		    memcmp(&site->ecbs[i]->es->facts.resident, &site->es->facts.resident,
			   sizeof(struct vp_resident_facts)) != 0)
			return false;
	return true;
}

/* --- one site -------------------------------------------------------------------------------------- */

/* Does the value depend on the probe? */
static bool names_probe(const struct dif_object *o)
{
	for (uint32_t i = 0; i < o->text_len; i++) {
		uint32_t id = dif_insn_idx(o->text[i]);
		if (dif_insn_op(o->text[i]) == DIF_OP_ldgs &&
		    ((id >= DIF_VAR_probeprov && id <= DIF_VAR_probename) || id == DIF_VAR_id ||
		     id == DIF_VAR_epid))
			return true;
	}
	return false;
}

bool vp_resident_is_per_probe(const struct dif_clause *clause)
{
	for (uint32_t i = 0; i < clause->nactions; i++) {
		const struct dif_action *a = &clause->actions[i];
		if (a->is_key && a->object && names_probe(a->object))
			return true;
	}
	return false;
}

static struct vp_tramp_guest guest_of(const struct vp_resident *r, const struct vp_site *site)
{
	const struct vp_facts *f = &site->es->facts;
	struct vp_tramp_guest g = {
		.facts = f,
		.task_size = f->resident.task_size,
		.percpu = f->resident.percpu,
		.percpu_size = f->resident.percpu_size,
		.strsize = site->es->open.strsize,
		.data_size = r->room.data_size,
		.sets_log = VP_TRAMP_SETS_LOG,
		.world = { .current = (int32_t)f->current_task,
			   .preempt = (int32_t)f->preempt_count,
			   .data = r->room.data_gva - r->room.lowest,
			   .ring = r->ring,
			   .port = r->room.port },
	};

	for (uint32_t i = 0; i < site->necbs; i++) {
		if (site->ecbs[i]->es->open.strsize < g.strsize)
			g.strsize = site->ecbs[i]->es->open.strsize;
		if (vp_resident_is_per_probe(site->ecbs[i]->clause->source))
			g.sets_log = SETS_LOG_PER_PROBE;
	}
	return g;
}

/* The site's only clause, if all of that clause's ECBs share its words; NULL: each ECB has its own. */
static struct vp_clause *shares_words(const struct vp_site *site)
{
	const struct vp_ecb *ecb = site->ecbs[0];
	struct vp_clause *clauses = ecb->es->service->clauses;

	return site->necbs == 1 && !vp_resident_is_per_probe(ecb->clause->source)
		   ? &clauses[ecb->clause - clauses]
		   : NULL;
}

static struct ot_err *compile(const struct vp_resident *r, const struct vp_tramp_guest *guest,
			      const struct vp_site *site, uint32_t data_used)
{
	struct vp_tramp_clause clauses[CLAUSES];
	const struct vp_enabled_site *at = site->enabled[0];
	const struct vp_tramp_site t = { at->args, (uint32_t)(at->gva - at->func_gva), clauses, site->necbs };

	for (uint32_t i = 0; i < site->necbs; i++) {
		const struct vp_ecb *ecb = site->ecbs[i];
		if (site->enabled[i]->args != t.args)
			return ot_err_new(OT_ERR_UNSUPPORTED, "probes with different arguments at one place");
		clauses[i] =
		    (struct vp_tramp_clause){ ecb->clause->source, ecb->epid, ecb->probe->id, r->slots + i };
	}
	return vp_trampoline_compile(guest, &t, data_used, r->compiled);
}

/* The first site that is exit-free only by records gets the rings made. */
static struct ot_err *compile_for_ring(struct vp_resident *r, struct vp_tramp_guest *guest,
				       const struct vp_site *site, uint32_t data_used)
{
	struct ot_err *err = compile(r, guest, site, data_used);

	if ((!err && !r->compiled->exits) || r->ring.count ||
	    site->enabled[0]->end.place == VP_TRAMP_AT_RETURN ||
	    !vp_records_layout(r, site->es, &guest->world.ring))
		return err;
	ot_err_destroy(err);
	OT_TRY(compile(r, guest, site, data_used));
	if (r->compiled->nrecords)
		return vp_records_open(site->es->engine, site->es, &guest->world.ring);
	guest->world.ring.count = 0; /* nothing keeps words out of there */
	return compile(r, guest, site, data_used);
}

/* Assemble the compiled trampoline behind those that are in the room. */
static struct ot_err *place_code(struct vp_resident *r, const struct vp_tramp_guest *guest,
				 struct vp_site *site)
{
	const struct vp_trampoline *t = r->compiled;
	uint64_t gva = r->room.code_gva + r->code_used;
	struct vp_tramp_code code = { .bytes = r->room.code + r->code_used, .size = VP_TRAMP_BYTES_MAX };
	uint8_t jump[VP_TRAMP_SITE];

	if (vp_resident_code_left(r) < VP_TRAMP_BYTES_MAX)
		return ot_err_new(OT_ERR_LIMIT, NO_ROOM);
	OT_TRY(vp_trampoline_emit(t->ops, t->nops, &guest->world, gva, &site->enabled[0]->end, &code));
	if (!vp_trampoline_jump(site->gva, gva, jump))
		return ot_err_new(OT_ERR_LIMIT, "the function is out of a jump's reach");
	r->code_used += (code.len + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	site->jump = gva;
	site->exit = code.exit ? gva + code.exit : 0;
	return NULL;
}

/* Where a new table of keys could be in the guest: only for one session's clauses. */
static void place_keys(const struct vp_resident *r, const struct vp_site *site, struct vp_tramp_world *w)
{
	const uint64_t from = r->room.code_gva + r->code_used + VP_TRAMP_BYTES_MAX;
	const uint64_t end = r->room.code_gva + r->room.code_size - r->keys_used;

	for (uint32_t i = 0; i < site->necbs; i++)
		if (site->ecbs[i]->es != site->es)
			return;
	if (from >= end)
		return;
	w->keys_from = from;
	w->keys_end = end;
}

/* Words and a table for the compiled trampoline, which uses data from @from on. */
static struct ot_err *add_memory(struct vp_resident *r, const struct vp_site *site, struct vp_clause *shared,
				 uint32_t from)
{
	const struct vp_trampoline *t = r->compiled;

	if (t->exits || !t->ncells)
		return NULL;
	r->data_used = t->data_used;
	OT_TRY(vp_resident_add_words(t, site->ecbs));
	if (t->table.nwords) {
		r->keys_used += vp_tramp_table_bytes(&t->table);
		return vp_resident_add_table(t, site, r->room.code + (t->table.keys - r->room.code_gva),
					     from);
	}
	if (shared) {
		shared->words_at = from;
		shared->words_end = r->data_used;
	}
	return NULL;
}

/* The compiled trampoline's records have slots from r->slots on. */
static struct ot_err *add_slots(struct vp_resident *r, const struct vp_site *site)
{
	if (!r->compiled->nrecords)
		return NULL;
	for (uint32_t i = 0; i < site->necbs; i++)
		site->ecbs[i]->es->service->resident.has_slots = true;
	return vp_records_add(site->es->engine, site->ecbs, site->necbs);
}

static struct ot_err *make(struct vp_resident *r, struct vp_site *site)
{
	struct vp_tramp_guest guest = guest_of(r, site);
	struct vp_clause *shared = shares_words(site);
	struct vp_resident_table *table = vp_resident_table_of(site);
	bool again = shared && shared->words_end;
	uint32_t from = again ? shared->words_at : r->data_used;

	if (table)
		from = vp_resident_table_place(table, &guest.world.keys_from, &guest.world.keys_end);
	else
		place_keys(r, site, &guest.world);
	OT_TRY(compile_for_ring(r, &guest, site, from));
	if (table)
		vp_resident_table_join(table, site);
	else if (!again)
		OT_TRY(add_memory(r, site, shared, from));
	OT_TRY(add_slots(r, site));
	return place_code(r, &guest, site);
}

/* --- one plan -------------------------------------------------------------------------------------- */

/* The table that replaces vp_resident's when the plan is complete. */
struct next {
	struct vp_resident_site *sites;
	struct vp_ecb **ecbs;
	uint32_t nsites, necbs;
	uint32_t old; /* in the last plan's sites: find_old() continues there */
	const struct vp_plan *plan;
	const struct vp_engine_session *asked; /* the last one that is_watched() was about, … */
	bool watched;                          /* … and the answer */
	bool records;                          /* some site writes them */
};

static bool is_same(const struct vp_resident *r, const struct vp_resident_site *old,
		    const struct vp_site *site)
{
	return old->gva == site->gva && old->necbs == site->necbs &&
	       !memcmp(&r->ecbs[old->first], site->ecbs, site->necbs * sizeof(*site->ecbs));
}

/* Both tables are in order of host address, so each search begins where the last one ended. */
static const struct vp_resident_site *find_old(const struct vp_resident *r, struct next *n,
					       const struct vp_site *site)
{
	while (n->old < r->nsites && r->sites[n->old].host < site->host)
		n->old++;
	if (n->old == r->nsites || r->sites[n->old].host != site->host)
		return NULL;
	return is_same(r, &r->sites[n->old], site) ? &r->sites[n->old] : NULL;
}

static void keep(struct next *n, const struct vp_site *site, bool records)
{
	n->sites[n->nsites++] = (struct vp_resident_site){ site->host, site->gva,   site->jump, site->exit,
							   n->necbs,   site->necbs, records };
	n->records |= records;
	memcpy(&n->ecbs[n->necbs], site->ecbs, site->necbs * sizeof(*site->ecbs));
	n->necbs += site->necbs;
}

/* The session of ECB @i, if that is its first one at the site; else NULL. */
static struct vp_engine_session_service *first_of(const struct vp_site *site, uint32_t i)
{
	struct vp_engine_session *es = site->ecbs[i]->es;

	return i && site->ecbs[i - 1]->es == es ? NULL : es->service;
}

/* Of a session's trapped sites, the first one's reason is kept. */
static void note_trapped(const struct vp_site *site, const char *why)
{
	for (uint32_t i = 0; i < site->necbs; i++) {
		struct vp_engine_session_service *s = first_of(site, i);
		if (!s)
			continue;
		s->resident.traps++;
		if (!s->resident.why[0])
			snprintf(s->resident.why, sizeof(s->resident.why), "%s", why);
	}
}

static void note_resident(const struct vp_site *site, bool records)
{
	for (uint32_t i = 0; i < site->necbs; i++) {
		struct vp_engine_session_service *s = first_of(site, i);
		if (!s)
			continue;
		s->resident.sites++;
		s->resident.records += records;
		s->resident.filters += site->exit != 0;
	}
}

static bool is_watched(struct next *n, const struct vp_engine_session *es)
{
	if (n->asked != es) {
		n->asked = es;
		n->watched = vp_resident_is_watched(n->plan, &es->facts);
	}
	return n->watched;
}

static void decide(struct vp_engine *engine, struct next *n, struct vp_site *site)
{
	struct vp_resident *r = &engine->service->resident;
	bool records;

	if (!is_wanted_by_all(site))
		return note_trapped(site, why_none(site));
	if (!vp_resident_has_room(engine, site->es))
		return note_trapped(site, r->why);
	if (r->room.outlived && !is_watched(n, site->es))
		return note_trapped(site, "its hibernation or kexec can't be watched");
	const struct vp_resident_site *old = find_old(r, n, site);
	if (old) {
		site->jump = old->jump;
		site->exit = old->exit;
		records = old->records;
	} else {
		struct ot_err *err = make(r, site);
		if (err) {
			note_trapped(site, ot_err_message(err));
			ot_err_destroy(err);
			return;
		}
		records = r->compiled->nrecords != 0;
	}
	note_resident(site, records);
	keep(n, site, records);
}

static bool is_wanted(const struct vp_engine *engine)
{
	bool wanted = false;

	for (uint32_t i = 0; i < engine->service->nsessions; i++) {
		struct vp_engine_session *es = engine->service->sessions[i];
		struct vp_engine_session_service *s = es->service;
		s->resident.sites = s->resident.records = s->resident.filters = s->resident.traps = 0;
		s->resident.why[0] = '\0';
		wanted |= s->planned && session_wants(es);
	}
	return wanted;
}

static void take_over(struct vp_resident *r, const struct next *n)
{
	free(r->sites);
	free(r->ecbs);
	r->sites = n->sites;
	r->ecbs = n->ecbs;
	r->nsites = n->nsites;
}

void vp_resident_plan(struct vp_engine *engine, struct vp_plan *plan)
{
	struct next n = { .plan = plan };
	size_t necbs = 0;

	if (is_wanted(engine) && plan) {
		for (uint32_t i = 0; i < plan->nsites; i++)
			necbs += plan->sites[i].necbs;
		n.sites = calloc(plan->nsites + 1u, sizeof(*n.sites));
		n.ecbs = calloc(necbs + 1u, sizeof(*n.ecbs));
		for (uint32_t i = 0; n.sites && n.ecbs && i < plan->nsites; i++)
			decide(engine, &n, &plan->sites[i]);
	}
	take_over(&engine->service->resident, &n);
	vp_records_want(engine, n.records);
}

void vp_resident_deinit(struct vp_engine *engine)
{
	const struct next none = { 0 };

	vp_records_close(engine);
	take_over(&engine->service->resident, &none);
	free(engine->service->resident.compiled);
	engine->service->resident.compiled = NULL;
}

void vp_resident_describe(const struct vp_engine_session *es, char *ret, size_t size)
{
	const struct vp_engine_session_service *s = es->service;
	int n = 0;

	*ret = '\0';
	if (!(es->open.flags & VP_OPEN_RESIDENT))
		return;
	if (es->open.only_cpu) {
		snprintf(ret, size, "resident probes: none, as they would count on all CPUs (-x cpu)");
		return;
	}
	n = snprintf(ret, size, "resident probes: %u places", s->resident.sites);
	if (s->resident.records)
		n += snprintf(ret + n, size - (size_t)n, ", %u of which write records", s->resident.records);
	if (s->resident.filters)
		n += snprintf(ret + n, size - (size_t)n,
			      ", %u of which exit where a predicate holds, or for a new key",
			      s->resident.filters);
	if (s->resident.traps)
		snprintf(ret + n, size - (size_t)n, "; %u places are trapped: %s", s->resident.traps,
			 s->resident.why);
}
