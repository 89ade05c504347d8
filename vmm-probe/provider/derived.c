/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The providers that provider/d defines in D over other probes. Their names are there from the start; which
 * alternative of a probe this guest has is decided by compiling them, when a description first matches it.
 *
 * Where the guest's module can tell of a probe of that name (native.c), that one is published instead.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/provider/derivation.h"
#include "vmm-probe/provider/native.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/registry.h"

/* A provider's file. */
struct file {
	struct vp_definitions defs;
	bool declared;
};

struct derived {
	struct file *file;
	const struct vp_definition *def;
	/* once resolved: */
	struct dif_type *types[VP_ARGS_MAX]; /* of args[] */
	struct dif_clause *places;           /* description of the place, condition and arguments there */
	uint32_t nplaces;
	uint32_t *programs; /* their numbers */
	struct vp_support support;
	bool has_support;
};

/* What is remembered of a probe. */
struct own {
	struct derived *d;
};

static struct derived *derived_of(const struct vp_probe *probe)
{
	return ((const struct own *)probe->own)->d;
}

/* --- names ------------------------------------------------------------------------------------- */

static struct ot_err *add(struct vp_probes *probes, const struct vp_provider *self, struct file *file,
			  const struct vp_definition *def)
{
	struct own *own = vp_probes_alloc(probes, sizeof(*own));
	const struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_SITE,
		.module = def->module,
		.function = def->function,
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
	return vp_probes_add(probes, self, &probe);
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	struct file *file = vp_probes_alloc(probes, sizeof(*file));

	if (!file)
		return ot_err_nomem();
	OT_TRY(vp_definitions_parse(self->definitions, vp_derivation_arena(vp_probes_derivation(probes)),
				    &file->defs));
	OT_TRY(vp_native_publish(probes, self));
	for (size_t i = 0; i < file->defs.count; i++)
		if (*file->defs.list[i].function || !vp_probes_has(probes, self, file->defs.list[i].name))
			OT_TRY(add(probes, self, file, &file->defs.list[i]));
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

	OT_TRY(vp_derivation_compile(dv, name, &a->with, &before, &d->support.nbefore));
	OT_TRY(vp_derivation_compile(dv, name, &a->at, &d->places, &d->nplaces));
	OT_TRY(vp_derivation_compile(dv, name, &a->after, &after, &d->support.nafter));
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

		if (!err || ot_err_code(err) != OT_ERR_UNSUPPORTED) {
			ot_err_destroy(first);
			return err;
		}
		if (first)
			ot_err_destroy(err);
		else
			first = err;
	}
	return ot_err_prefix(first, "this kernel has none of its places");
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
