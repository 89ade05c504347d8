/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stability attributes of probes and programs (-v). */
#include <string.h>

#include "cli/stability.h"

enum {
	PRIVATE = DIF_STABILITY_PRIVATE,
	UNSTABLE = DIF_STABILITY_UNSTABLE,
	EVOLVING = DIF_STABILITY_EVOLVING,
	STABLE = DIF_STABILITY_STABLE,
	CLASS_UNKNOWN = DIF_CLASS_UNKNOWN,
	CLASS_CPU = DIF_CLASS_CPU,
	CLASS_ISA = DIF_CLASS_ISA,
	CLASS_COMMON = DIF_CLASS_COMMON,
};

/* clang-format off */
#define NOTHING { PRIVATE, PRIVATE, CLASS_UNKNOWN }
#define ISA     { EVOLVING, EVOLVING, CLASS_ISA }
#define COMMON  { EVOLVING, EVOLVING, CLASS_COMMON }
#define HIDDEN  { PRIVATE, PRIVATE, CLASS_ISA }

/* As in the Dynamic Tracing Guide: the provider, its modules, functions, names and arguments. Names of places
 * in a kernel are private to that kernel. */
static const struct {
	const char *provider;
	struct dif_attribute attrs[DIF_ATTR_PARTS];
} known[] = {
	{ "dtrace",
	  { { STABLE, STABLE, CLASS_COMMON },
	    NOTHING,
	    NOTHING,
	    { STABLE, STABLE, CLASS_COMMON },
	    { STABLE, STABLE, CLASS_COMMON } } },
	{ "profile", { COMMON, { UNSTABLE, UNSTABLE, CLASS_UNKNOWN }, NOTHING, COMMON, COMMON } },
	{ "fbt", { ISA, NOTHING, NOTHING, ISA, HIDDEN } },
	{ "syscall", { COMMON, NOTHING, { UNSTABLE, UNSTABLE, CLASS_ISA }, COMMON, HIDDEN } },
	{ "sdt", { ISA, NOTHING, NOTHING, HIDDEN, HIDDEN } },
	{ "rawtp", { ISA, NOTHING, NOTHING, HIDDEN, HIDDEN } },
	{ "proc", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "sched", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "io", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "fsinfo", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "ip", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "tcp", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "udp", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "sctp", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "mib", { ISA, NOTHING, NOTHING, ISA, ISA } },
	{ "sysinfo", { ISA, NOTHING, NOTHING, ISA, HIDDEN } },
	{ "vminfo", { ISA, NOTHING, NOTHING, ISA, HIDDEN } },
	{ "vmstat", { ISA, NOTHING, NOTHING, HIDDEN, ISA } },
	{ "dtmalloc", { COMMON, NOTHING, NOTHING, COMMON, HIDDEN } },
	{ "lockstat", { COMMON, NOTHING, NOTHING, COMMON, COMMON } },
	{ "cpc", { COMMON, NOTHING, NOTHING, { EVOLVING, EVOLVING, CLASS_CPU }, COMMON } },
};

/* clang-format on */

#undef NOTHING
#undef ISA
#undef COMMON
#undef HIDDEN

void cli_attributes(const struct dif_world *world, const char *provider,
		    struct dif_attribute ret[DIF_ATTR_PARTS])
{
	if (world->attributes && world->attributes(world->env, provider, ret))
		return;
	for (unsigned i = 0; i < DIF_ATTR_PARTS; i++)
		ret[i] = (struct dif_attribute){ PRIVATE, PRIVATE, CLASS_UNKNOWN };
	for (size_t k = 0; k < OT_ARRAY_SIZE(known); k++)
		if (!strcmp(known[k].provider, provider))
			memcpy(ret, known[k].attrs, sizeof(known[k].attrs));
}

static void lower(struct dif_attribute *a, struct dif_attribute b)
{
	*a = dif_attribute_min(*a, b);
}

/* A part that is a pattern is not considered. */
static bool is_named(const char *part)
{
	return *part && !strpbrk(part, "*?[\\");
}

struct dif_attribute cli_probe_attribute(const struct dif_attribute attrs[DIF_ATTR_PARTS], const char *module,
					 const char *function, const char *name)
{
	struct dif_attribute least = attrs[DIF_ATTR_PROVIDER];

	if (is_named(module))
		lower(&least, attrs[DIF_ATTR_MODULE]);
	if (is_named(function))
		lower(&least, attrs[DIF_ATTR_FUNCTION]);
	if (is_named(name))
		lower(&least, attrs[DIF_ATTR_NAME]);
	return least;
}

void cli_print_attribute(const char *heading, struct dif_attribute attr, FILE *fp)
{
	fprintf(fp, "\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n\t\tDependency Class: %s\n",
		heading, dif_stability_text(attr.name), dif_stability_text(attr.data),
		dif_class_text(attr.class));
}

/* The least stability of the probes that clauses match. */
struct common {
	const struct con_compilation *compilation;
	const struct dif_world *world;
	const struct dif_probedesc *desc;
	bool uses_args;
	struct dif_attribute probes, statements;
};

static void provider_attributes(const struct common *c, const char *provider,
				struct dif_attribute ret[DIF_ATTR_PARTS])
{
	cli_attributes(c->world, provider, ret);
	for (unsigned i = 0; i < DIF_ATTR_PARTS; i++)
		(void)dif_compiler_provider_attribute(c->compilation->comps[0], provider,
						      (enum dif_attr_part)i, &ret[i]);
}

static bool lower_by_probe(void *arg, const struct dif_probe_info *probe)
{
	struct common *c = arg;
	const struct dif_probedesc *d = c->desc;
	struct dif_attribute attrs[DIF_ATTR_PARTS];

	provider_attributes(c, probe->provider, attrs);
	lower(&c->probes, d->id ? cli_probe_attribute(attrs, probe->module, probe->function, probe->name)
				: cli_probe_attribute(attrs, d->module, d->function, d->name));
	if (c->uses_args)
		lower(&c->statements, attrs[DIF_ATTR_ARGS]);
	return true;
}

static bool object_uses_args(const struct dif_object *obj)
{
	for (uint32_t i = 0; obj && i < obj->var_len; i++)
		if (obj->vars[i].id == DIF_VAR_args && obj->vars[i].scope == DIF_SCOPE_GLOBAL)
			return true;
	return false;
}

static bool clause_uses_args(const struct dif_clause *clause)
{
	bool uses = object_uses_args(clause->predicate);

	for (uint32_t k = 0; k < clause->nactions; k++)
		uses |= object_uses_args(clause->actions[k].object);
	return uses;
}

void cli_report_stability(const struct con_compilation *c, const struct con_compiled *unit,
			  const struct dif_world *world, FILE *fp)
{
	struct common common = {
		.compilation = c,
		.world = world,
		.probes = { DIF_STABILITY_STANDARD, DIF_STABILITY_STANDARD, DIF_CLASS_COMMON },
		.statements = unit->used,
	};

	for (uint32_t i = unit->first; i < unit->end; i++) {
		uint64_t count = 0;
		common.desc = &c->prog.clauses[i].probe;
		common.uses_args = clause_uses_args(&c->prog.clauses[i]);
		ot_err_destroy(world->match(world->env, common.desc, lower_by_probe, &common, &count));
	}
	fprintf(fp, "\nStability attributes for %s %s:\n", unit->what, unit->name);
	cli_print_attribute("Minimum Probe Description Attributes", common.probes, fp);
	cli_print_attribute("Minimum Statement Attributes", common.statements, fp);
}
