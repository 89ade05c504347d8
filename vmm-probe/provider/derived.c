/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The providers that provider/d defines in D over other probes. Their names are there from the start; which
 * alternative of a probe this guest has is decided by compiling them, when a description first matches it.
 *
 * If the guest's module can report a probe of that name (native.c), that one is published instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/members.h"
#include "vmm-probe/provider/native.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/registry.h"

/* Of a probe whose definition names no module: its places are in the kernel itself. */
#define KERNEL_MODULE "vmlinux"

/* A provider's file. */
struct file {
	struct vp_definitions defs;
	struct vp_members members; /* of its definitions for each */
	bool declared;
};

struct derived {
	struct file *file;
	const struct vp_definition *def;
	const char *value; /* of `$1`; NULL: none */
	/* once resolved: */
	struct dif_type *types[VP_ARGS_MAX]; /* of args[] */
	struct dif_clause *places;           /* description of the place, its condition and arguments */
	uint32_t nplaces;
	uint32_t *programs; /* their numbers */
	struct vp_support support;
	bool has_support;
};

/* The stored data of a probe. */
struct own {
	struct derived *d;
};

static struct derived *derived_of(const struct vp_probe *probe)
{
	return ((const struct own *)probe->own)->d;
}

/* --- names ------------------------------------------------------------------------------------- */

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, struct file *file,
			  const struct vp_definition *def, const struct vp_member *member)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SITE,
		.module = *def->module ? def->module : KERNEL_MODULE,
		.function = member ? member->name : def->function,
		.name = def->name,
		.own = own,
	};

	if (!own)
		return ot_err_nomem();
	own->d = vp_probes_alloc(probes, sizeof(*own->d));
	if (!own->d)
		return ot_err_nomem();
	own->d->file = file;
	own->d->def = def;
	own->d->value = member ? member->value : NULL;
	return vp_probes_add(probes, self, &probe);
}

/* A probe for each member. */
static struct ot_err *add_each(struct vp_probes *probes, const struct vp_provider *self, struct file *file,
			       const struct vp_definition *def)
{
	if (!file->members.list)
		OT_TRY(vp_members_slab_caches(probes, &file->members));
	for (size_t i = 0; i < file->members.count; i++)
		OT_TRY(add(probes, self, file, def, &file->members.list[i]));
	return NULL;
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	struct file *file = vp_probes_alloc(probes, sizeof(*file));

	if (!file)
		return ot_err_nomem();
	OT_TRY(vp_definitions_parse(self->definitions, vp_derivation_arena(vp_probes_derivation(probes)),
				    &file->defs));
	OT_TRY(vp_native_publish(probes, self));
	for (size_t i = 0; i < file->defs.count; i++) {
		const struct vp_definition *def = &file->defs.list[i];
		if (!strcmp(def->function, "*"))
			OT_TRY(add_each(probes, self, file, def));
		else if (*def->function || !vp_probes_has(probes, self, def->name))
			OT_TRY(add(probes, self, file, def, NULL));
	}
	return NULL;
}

/* --- which alternative ------------------------------------------------------------------------------ */

static struct ot_err *find_types(struct vp_derivation *dv, struct derived *d)
{
	for (unsigned i = 0; i < d->def->nargs; i++) {
		d->types[i] = vp_derivation_type(dv, d->def->args[i].native);
		if (!d->types[i])
			return ot_err_new(OT_ERR_UNSUPPORTED, "this kernel has no type \"%s\"",
					  d->def->args[i].native);
	}
	return NULL;
}

static struct ot_err *declare(struct vp_derivation *dv, struct file *file)
{
	if (file->declared)
		return NULL;
	OT_TRY(vp_derivation_declare(dv, file->defs.provider, file->defs.common));
	file->declared = true;
	return NULL;
}

/* Variables are known from the clauses that assign them: those come first. */
static struct ot_err *take_alternative(struct vp_derivation *dv, struct derived *d,
				       const struct vp_alternative *a)
{
	const char *name = d->def->name;
	struct dif_clause *before, *after;

	OT_TRY(vp_derivation_compile(dv, name, d->value, &a->with, &before, &d->support.nbefore));
	OT_TRY(vp_derivation_compile(dv, name, d->value, &a->at, &d->places, &d->nplaces));
	OT_TRY(vp_derivation_compile(dv, name, d->value, &a->after, &after, &d->support.nafter));
	d->programs = ot_arena_alloc(vp_derivation_arena(dv), (d->nplaces + 1) * sizeof(*d->programs));
	if (!d->programs)
		return ot_err_nomem();
	for (uint32_t i = 0; i < d->nplaces; i++)
		OT_TRY(vp_derivation_add_program(dv, &d->places[i], &d->programs[i]));
	d->support.before = before;
	d->support.after = after;
	d->has_support = d->support.nbefore || d->support.nafter;
	return NULL;
}

/* --- where ------------------------------------------------------------------------------------------ */

/* The sites of one place, while they are gathered. */
struct gathering {
	struct vp_probes *probes;
	struct ot_buf *sites;
	uint32_t program;
	struct ot_err *err;
};

static struct ot_err *gather(struct gathering *g, const struct vp_probe *place)
{
	ot_auto_free struct vp_batch_site *sites = NULL;
	uint32_t n;

	if (place->kind != VP_PROBE_SITE)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s:%s:%s:%s is no place in the kernel's text",
				  place->provider, place->module, place->function, place->name);
	OT_TRY(vp_probes_sites(g->probes, place, &sites, &n));
	for (uint32_t i = 0; i < n; i++) {
		if (sites[i].program)
			return ot_err_new(OT_ERR_UNSUPPORTED, "%s:::%s is defined by other probes itself",
					  place->provider, place->name);
		if (place->args != VP_ARGS_SITE)
			sites[i].args = (uint8_t)place->args;
		sites[i].program = g->program;
	}
	ot_buf_append(g->sites, sites, n * sizeof(*sites));
	return NULL;
}

static bool gather_probe(void *arg, const struct vp_probe *place)
{
	struct gathering *g = arg;

	g->err = gather(g, place);
	return !g->err;
}

static struct ot_err *gather_all(struct vp_probes *probes, const struct derived *d, struct ot_buf *sites)
{
	for (uint32_t i = 0; i < d->nplaces; i++) {
		struct gathering g = { .probes = probes, .sites = sites, .program = d->programs[i] };
		uint64_t count;

		OT_TRY(vp_probes_match(probes, &d->places[i].probe, true, gather_probe, &g, &count));
		if (g.err)
			return g.err;
	}
	return sites->failed ? ot_err_nomem() : NULL;
}

/* --- in this guest ------------------------------------------------------------------------------------ */

/* Can the probe be placed at the alternative's place? */
static struct ot_err *check_places(struct vp_probes *probes, const struct derived *d)
{
	struct ot_buf list;

	ot_buf_init(&list);
	struct ot_err *err = gather_all(probes, d, &list);
	ot_buf_deinit(&list);
	return err;
}

/* The function that all places are in; none where they are in several, or are tracepoints. */
static struct ot_err *find_function(struct vp_probes *probes, const struct vp_probe *probe,
				    const struct derived *d)
{
	const char *function = d->nplaces ? d->places[0].probe.function : NULL;

	for (uint32_t i = 1; i < d->nplaces; i++)
		if (!function || !d->places[i].probe.function ||
		    strcmp(d->places[i].probe.function, function) != 0)
			return NULL;
	if (*probe->function || !function || !*function || dif_glob_is_pattern(function))
		return NULL;
	char *copy = vp_probes_strdup(probes, function);
	if (!copy)
		return ot_err_nomem();
	vp_probes_set_function(probes, probe, copy);
	return NULL;
}

static struct ot_err *resolve(struct vp_probes *probes, const struct vp_probe *probe)
{
	struct vp_derivation *dv = vp_probes_derivation(probes);
	struct derived *d = probe->kind == VP_PROBE_SITE ? derived_of(probe) : NULL;
	struct ot_err *first = NULL;

	if (!d)
		return NULL;
	OT_TRY(declare(dv, d->file));
	OT_TRY(find_types(dv, d));
	for (unsigned i = 0; i < d->def->nalternatives; i++) {
		struct ot_err *err = take_alternative(dv, d, &d->def->alternatives[i]);

		if (!err)
			err = check_places(probes, d);
		if (!err || ot_err_code(err) != OT_ERR_UNSUPPORTED) {
			ot_err_destroy(first);
			return err ? err : find_function(probes, probe, d);
		}
		if (first)
			ot_err_destroy(err);
		else
			first = err;
	}
	return ot_err_prefix(first, "this kernel has none of its places");
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	struct ot_buf list;

	ot_buf_init(&list);
	struct ot_err *err = gather_all(probes, derived_of(probe), &list);
	uint32_t n = (uint32_t)(list.len / sizeof(**ret));
	if (!err) {
		*ret = (void *)ot_buf_take(&list);
		if (!*ret)
			return ot_err_nomem();
		*ret_count = n;
	}
	ot_buf_deinit(&list);
	return err;
}

/* --- arguments ------------------------------------------------------------------------------------ */

static bool arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	if (probe->kind != VP_PROBE_SITE)
		return vp_native_arg(probes, probe, n, ret);
	const struct derived *d = derived_of(probe);

	if (n >= d->def->nargs || !d->types[n])
		return false;
	ret->native = d->types[n];
	ret->translated = d->def->args[n].translated;
	ret->mapping = d->def->args[n].mapping;
	return true;
}

static int nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	if (probe->kind != VP_PROBE_SITE)
		return vp_native_nargs(probes, probe);
	return (int)derived_of(probe)->def->nargs;
}

static bool inside(const struct vp_probes *probes, const struct vp_probe *probe,
		   const struct vp_guest_agent *agent, struct vp_batch_event *ret)
{
	return probe->kind == VP_PROBE_AGENT && vp_native_inside(probes, probe, agent, ret);
}

static const struct vp_support *support(const struct vp_probe *probe)
{
	const struct derived *d = probe->kind == VP_PROBE_SITE ? derived_of(probe) : NULL;

	return d && d->has_support ? &d->support : NULL;
}

#define DEFINE(provider)                                    \
	extern const char vp_definitions_##provider[];      \
	const struct vp_provider vp_provider_##provider = { \
		.name = #provider,                          \
		.needs_guest = true,                        \
		.publish = publish,                         \
		.resolve = resolve,                         \
		.sites = sites,                             \
		.inside = inside,                           \
		.arg = arg,                                 \
		.nargs = nargs,                             \
		.support = support,                         \
		.definitions = vp_definitions_##provider,   \
	};
VP_DERIVED(DEFINE)
#undef DEFINE
