/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry of probes. A hundred thousand are ordinary, so they are stored in chunks (pointers stay valid
 * while on-demand probes are appended), their strings are borrowed, and text is read only when a probe is
 * enabled.
 */
#include "vmm-probe/provider/registry.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/map.h"
#include "vmm-probe/guest/agent.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/registry_index.h"
#include "vmm-probe/provider/sites.h"
#include "vmm-probe/provider/text.h"
#include "vmm-probe/provider/tracepoint_sites.h"

#define CHUNK      1024u
#define PROBES_MAX (8u << 20)

struct entry {
	struct vp_probe probe;
	const struct vp_provider *provider;
	bool resolved;
	/* Set by the planner's decision; only with a planner: */
	bool planned;
	bool plan_refused;           /* probe.refused is the planner's */
	struct vp_batch_site *sites; /* owned */
	uint32_t nsites;
};

struct vp_probes {
	struct vp_guest *guest;
	struct vp_types *types;
	struct vp_text *text;
	struct vp_derivation *derivation;
	struct vp_tracepoint_finder *tracepoints;
	struct vp_planner *planner;
	struct vp_text_undo undo; /* of the planner's guest */
	struct ot_arena strings;
	struct entry **chunks;
	size_t nchunks, chunks_cap;
	uint32_t count;
	struct vp_probe_index index;
	struct ot_map unanchored; /* probes without a function, by name: their provider */
	struct vp_guest_agent agent;
	bool has_agent;
	char *no_agent; /* why the agent that is there can't be used */
};

#define POINTER(name) &vp_provider_##name,
static const struct vp_provider *const providers[] = { VP_PROVIDERS(POINTER) };
#undef POINTER

static struct entry *entry_of(const struct vp_probes *probes, uint32_t id)
{
	return &probes->chunks[(id - 1) / CHUNK][(id - 1) % CHUNK];
}

/* Most guests have no agent; one whose agent can't be used is traced from outside. */
static struct ot_err *find_agent(struct vp_probes *probes)
{
	struct ot_err *err = vp_guest_agent_read(probes->guest, &probes->agent);

	probes->has_agent = !err;
	if (!err)
		return NULL;
	switch (ot_err_code(err)) {
	case OT_ERR_NO_MEMORY:
	case OT_ERR_GUEST_GONE:
		return err;
	case OT_ERR_NOT_FOUND:
		break;
	default:
		probes->no_agent = strdup(ot_err_message(err));
	}
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *vp_probes_create(struct vp_guest *guest, struct vp_probes **ret)
{
	struct vp_probes *probes = calloc(1, sizeof(*probes));
	struct ot_err *err = NULL;

	if (!probes)
		return ot_err_nomem();
	probes->guest = guest;
	ot_arena_init(&probes->strings);
	ot_map_init(&probes->unanchored);
	if (guest)
		err = vp_types_of_guest(guest, &probes->types);
	if (guest && !err)
		err = vp_derivation_create(probes, &probes->derivation);
	if (guest && !err)
		err = vp_tracepoint_finder_create(probes, &probes->tracepoints);
	if (guest && !err)
		err = find_agent(probes);
	for (size_t i = 0; !err && i < OT_ARRAY_SIZE(providers); i++)
		if (guest || !providers[i]->needs_guest)
			err = ot_err_prefix(providers[i]->publish(probes, providers[i]), "provider %s",
					    providers[i]->name);
	if (err) {
		vp_probes_destroy(probes);
		return err;
	}
	*ret = probes;
	return NULL;
}

static void forget_plans(struct vp_probes *probes)
{
	for (uint32_t id = 1; probes->planner && id <= probes->count; id++) {
		struct entry *e = entry_of(probes, id);

		free(e->sites);
		if (e->plan_refused)
			e->probe.refused = NULL;
		e->sites = NULL;
		e->nsites = 0;
		e->planned = e->plan_refused = false;
	}
}

void vp_probes_destroy(struct vp_probes *probes)
{
	if (!probes)
		return;
	forget_plans(probes);
	for (size_t i = 0; i < probes->nchunks; i++)
		free(probes->chunks[i]);
	free(probes->chunks);
	vp_planner_destroy(probes->planner);
	vp_probe_index_deinit(&probes->index);
	vp_text_destroy(probes->text);
	vp_tracepoint_finder_destroy(probes->tracepoints);
	vp_derivation_destroy(probes->derivation);
	vp_types_destroy(probes->types);
	ot_map_deinit(&probes->unanchored);
	vp_guest_agent_deinit(&probes->agent);
	free(probes->no_agent);
	ot_arena_deinit(&probes->strings);
	free(probes);
}

struct ot_err *vp_probes_add(struct vp_probes *probes, const struct vp_provider *provider,
			     const struct vp_probe *probe)
{
	if (probes->count >= PROBES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u probes", PROBES_MAX);
	if (probes->count == probes->nchunks * CHUNK) {
		if (!ot_grow(&probes->chunks, &probes->chunks_cap, probes->nchunks + 1,
			     sizeof(*probes->chunks)))
			return ot_err_nomem();
		probes->chunks[probes->nchunks] = calloc(CHUNK, sizeof(struct entry));
		if (!probes->chunks[probes->nchunks])
			return ot_err_nomem();
		probes->nchunks++;
	}

	struct entry *e = entry_of(probes, ++probes->count);

	e->probe = *probe;
	e->probe.id = probes->count;
	e->probe.provider = provider->name;
	e->provider = provider;
	if (!*probe->function && !ot_map_puts(&probes->unanchored, probe->name, (void *)provider))
		return ot_err_nomem();
	return NULL;
}

bool vp_probes_has(struct vp_probes *probes, const struct vp_provider *provider, const char *name)
{
	return ot_map_gets(&probes->unanchored, name) == provider;
}

void *vp_probes_alloc(struct vp_probes *probes, size_t size)
{
	return ot_arena_alloc(&probes->strings, size);
}

char *vp_probes_strdup(struct vp_probes *probes, const char *s)
{
	return ot_arena_strdup(&probes->strings, s);
}

struct vp_guest *vp_probes_guest(struct vp_probes *probes)
{
	return probes->guest;
}

const struct vp_guest_agent *vp_probes_agent(const struct vp_probes *probes, const char **ret_why)
{
	if (ret_why)
		*ret_why = probes->no_agent;
	return probes->has_agent ? &probes->agent : NULL;
}

struct vp_tracepoint_finder *vp_probes_tracepoints(struct vp_probes *probes)
{
	return probes->tracepoints;
}

struct vp_derivation *vp_probes_derivation(struct vp_probes *probes)
{
	return probes->derivation;
}

struct ot_err *vp_probes_add_program(struct vp_probes *probes, const struct dif_clause *program,
				     uint32_t *ret)
{
	return vp_derivation_add_program(probes->derivation, program, ret);
}

const struct dif_clause *vp_probes_program(const struct vp_probes *probes, uint32_t number)
{
	return probes->derivation ? vp_derivation_program(probes->derivation, number) : NULL;
}

const struct vp_support *vp_probes_support(const struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_provider *p = entry_of(probes, probe->id)->provider;

	return p->support ? p->support(probe) : NULL;
}

struct vp_types *vp_probes_types(struct vp_probes *probes)
{
	return probes->types;
}

struct ot_err *vp_probes_text(struct vp_probes *probes, struct vp_text **ret)
{
	if (!probes->guest)
		return ot_err_new(OT_ERR_UNSUPPORTED, "there is no guest");
	if (!probes->text)
		OT_TRY(vp_text_create(probes->guest, probes->undo.patches ? &probes->undo : NULL,
				      &probes->text));
	*ret = probes->text;
	return NULL;
}

uint32_t vp_probes_count(const struct vp_probes *probes)
{
	return probes->count;
}

const struct vp_probe *vp_probes_get(const struct vp_probes *probes, uint32_t id)
{
	return id && id <= probes->count ? &entry_of(probes, id)->probe : NULL;
}

/* One field of a description. Runs of probes share their strings, so the last result is kept. */
struct field {
	const char *pattern; /* NULL: matches anything */
	bool is_glob;
	const char *last;
	bool answer;
};

static void field_init(struct field *f, const char *pattern)
{
	*f = (struct field){ .pattern = pattern && *pattern ? pattern : NULL };
	f->is_glob = f->pattern && dif_glob_is_pattern(pattern);
}

static inline bool field_match(struct field *f, const char *text)
{
	if (!f->pattern)
		return true;
	if (f->last != text) {
		f->last = text;
		f->answer = f->is_glob ? dif_glob_match(f->pattern, text) : !strcmp(f->pattern, text);
	}
	return f->answer;
}

/* --- traps --------------------------------------------------------------------------------------- */

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
	return NULL;
}

struct vp_planner *vp_probes_planner(struct vp_probes *probes)
{
	return probes->planner;
}

void vp_probes_forget_text(struct vp_probes *probes)
{
	forget_plans(probes);
	vp_text_destroy(probes->text);
	probes->text = NULL;
}

/* A probe that is unavailable from outside, and that the agent reports, is only inside. */
static bool is_only_inside(const struct vp_probes *probes, struct entry *e)
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
static struct ot_err *refuse(struct vp_probes *probes, struct entry *e, struct ot_err *err)
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

/* All or none: a return probe that misses an exit would count wrong. */
static struct ot_err *decide(struct vp_probes *probes, struct entry *e)
{
	/* without a function of its own it is on probes that were decided about */
	const char *why = e->probe.gva ? vp_planner_function(probes->planner, e->probe.gva) : NULL;

	if (why)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s", why);
	OT_TRY(e->provider->sites(probes, &e->probe, &e->sites, &e->nsites));
	for (uint32_t i = 0; i < e->nsites; i++) {
		struct vp_verdict v = vp_planner_site(probes->planner, &e->sites[i]);
		if (v.kind != VP_PLAN_REFUSE)
			continue;
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

/* Once, when a description first matches the probe. What the guest lacks, it lacks for good. */
static struct ot_err *resolve(struct vp_probes *probes, struct entry *e)
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

static struct ot_err *plan(struct vp_probes *probes, struct entry *e)
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

/* --- matching ------------------------------------------------------------------------------------- */

struct matcher {
	struct vp_probes *probes;
	struct ot_err *err;
	struct field provider, module, function, name;
	bool with_refused;
	bool (*each)(void *arg, const struct vp_probe *probe);
	void *arg;
	uint64_t count;
};

/* False: the callback ended the match. */
static bool try_probe(struct matcher *m, struct entry *e)
{
	const struct vp_probe *p = &e->probe;

	if (p->refused && !m->with_refused)
		return true;
	/* Cheapest first: results for names and providers are often kept, those for functions are not. */
	if (!field_match(&m->provider, p->provider) || !field_match(&m->name, p->name) ||
	    !field_match(&m->module, p->module) || !field_match(&m->function, p->function))
		return true;
	m->err = plan(m->probes, e);
	if (m->err)
		return false;
	if (p->refused && !m->with_refused)
		return true;
	m->count++;
	return !m->each || m->each(m->arg, p);
}

static const char *function_of(void *probes, uint32_t id)
{
	return vp_probes_get(probes, id)->function;
}

/* The index finds an exact function name; probes added after the index was built are compared one by one. */
static struct ot_err *match_exact(struct vp_probes *probes, struct matcher *m)
{
	struct vp_probe_index *index = &probes->index;

	if (!index->count)
		OT_TRY(vp_probe_index_init(index, probes->count, function_of, probes));
	for (uint32_t id = vp_probe_index_first(index, m->function.pattern); id; id = index->next[id])
		if (!try_probe(m, entry_of(probes, id)))
			return m->err;
	for (uint32_t id = index->count + 1; id <= probes->count; id++)
		if (!try_probe(m, entry_of(probes, id)))
			return m->err;
	return NULL;
}

/* No function has that name: try the compiler's copies of one. Rare, and mostly a misspelling. */
static struct ot_err *match_copies(struct vp_probes *probes, struct matcher *m)
{
	const char *of = m->function.pattern;
	uint32_t count = probes->count;

	m->function.pattern = NULL;
	for (uint32_t id = 1; id <= count; id++) {
		struct entry *e = entry_of(probes, id);
		if (vp_function_is_copy(e->probe.function, of) && !try_probe(m, e))
			return m->err;
	}
	return NULL;
}

static struct ot_err *match_all(struct vp_probes *probes, struct matcher *m)
{
	/* Probes that @each adds are not visited: a description means those that existed before. */
	uint32_t count = probes->count;

	for (uint32_t id = 1; id <= count; id++)
		if (!try_probe(m, entry_of(probes, id)))
			return m->err;
	return NULL;
}

static struct ot_err *match_id(struct vp_probes *probes, struct matcher *m, uint32_t id)
{
	if (!vp_probes_get(probes, id))
		return ot_err_new(OT_ERR_NOT_FOUND,
				  "invalid probe description \"%u\": Unknown probe identifier", id);
	try_probe(m, entry_of(probes, id));
	return m->err;
}

static struct ot_err *provide(struct vp_probes *probes, const struct dif_probedesc *desc)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(providers); i++) {
		const struct vp_provider *p = providers[i];

		if (!p->provide || (p->needs_guest && !probes->guest))
			continue;
		if (dif_glob_match(desc->provider ? desc->provider : "", p->name))
			OT_TRY(p->provide(probes, p, desc));
	}
	return NULL;
}

struct ot_err *vp_probes_match(struct vp_probes *probes, const struct dif_probedesc *desc, bool with_refused,
			       bool (*each)(void *arg, const struct vp_probe *probe), void *arg,
			       uint64_t *ret_count)
{
	struct matcher m = { .probes = probes, .with_refused = with_refused, .each = each, .arg = arg };

	if (desc->id) {
		OT_TRY(match_id(probes, &m, desc->id));
	} else {
		OT_TRY(provide(probes, desc));
		field_init(&m.provider, desc->provider);
		field_init(&m.module, desc->module);
		field_init(&m.function, desc->function);
		field_init(&m.name, desc->name);
		if (m.function.pattern && !m.function.is_glob)
			OT_TRY(match_exact(probes, &m));
		else
			OT_TRY(match_all(probes, &m));
		if (m.function.pattern && !m.function.is_glob && !m.count)
			OT_TRY(match_copies(probes, &m));
	}
	*ret_count = m.count;
	return NULL;
}

struct ot_err *vp_probes_sites(struct vp_probes *probes, const struct vp_probe *probe,
			       struct vp_batch_site **ret, uint32_t *ret_count)
{
	struct entry *e = entry_of(probes, probe->id);
	const struct vp_provider *p = e->provider;

	OT_TRY(plan(probes, e));
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

void vp_probes_fill(const struct vp_probes *probes, const struct vp_probe *probe, struct vp_batch_probe *ret)
{
	const struct vp_provider *p = entry_of(probes, probe->id)->provider;

	*ret = (struct vp_batch_probe){ .id = probe->id, .kind = probe->kind, .args = probe->args };
	if (p->fill)
		p->fill(probe, ret);
}

bool vp_probes_inside(const struct vp_probes *probes, const struct vp_probe *probe,
		      const struct vp_guest_agent *agent, struct vp_batch_probe *ret)
{
	const struct vp_provider *p = entry_of(probes, probe->id)->provider;
	struct vp_batch_event event = { 0 };

	if (!agent || !p->inside || !p->inside(probes, probe, agent, &event))
		return false;
	*ret = (struct vp_batch_probe){
		.id = probe->id, .kind = VP_PROBE_AGENT, .args = probe->args, .agent = event
	};
	return true;
}

uint64_t vp_probes_interval(const struct vp_probes *probes, const struct vp_probe *probe)
{
	struct vp_batch_probe bp;

	vp_probes_fill(probes, probe, &bp);
	return bp.interval_ns;
}

bool vp_probes_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		   struct dif_probe_arg *ret)
{
	const struct vp_provider *p = entry_of(probes, probe->id)->provider;

	*ret = (struct dif_probe_arg){ 0 };
	return p->arg && p->arg(probes, probe, n, ret);
}

int vp_probes_nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_provider *p = entry_of(probes, probe->id)->provider;

	/* probes without sites (BEGIN, tick) have none */
	return p->nargs ? p->nargs(probes, probe) : p->sites ? -1 : 0;
}
