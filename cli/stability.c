/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "cli/stability.h"

static const char *const stabilities[] = {
	"Internal", "Private", "Obsolete", "External", "Unstable", "Evolving", "Stable", "Standard",
};
static const char *const classes[] = { "Unknown", "CPU", "Platform", "Group", "ISA", "Common" };

enum {
	PRIVATE = 1,
	EVOLVING = 5,
	STABLE = 6,
	STANDARD = 7,
	CLASS_UNKNOWN = 0,
	CLASS_ISA = 4,
	CLASS_COMMON = 5
};

/* dtrace and profile are the same everywhere, so are their published attributes. fbt and syscall
 * name things of the guest's kernel. */
static const struct {
	const char *provider;
	struct dif_attribute attrs[CLI_ATTRIBUTES];
} known[] = {
	{ "dtrace",
	  { { STABLE, STABLE, CLASS_COMMON },
	    { PRIVATE, PRIVATE, CLASS_UNKNOWN },
	    { PRIVATE, PRIVATE, CLASS_UNKNOWN },
	    { STABLE, STABLE, CLASS_COMMON },
	    { STABLE, STABLE, CLASS_COMMON } } },
	{ "profile",
	  { { EVOLVING, EVOLVING, CLASS_COMMON },
	    { 4, 4, CLASS_UNKNOWN },
	    { PRIVATE, PRIVATE, CLASS_UNKNOWN },
	    { EVOLVING, EVOLVING, CLASS_COMMON },
	    { EVOLVING, EVOLVING, CLASS_COMMON } } },
	{ "fbt",
	  { { EVOLVING, EVOLVING, CLASS_ISA },
	    { PRIVATE, PRIVATE, CLASS_UNKNOWN },
	    { PRIVATE, PRIVATE, CLASS_UNKNOWN },
	    { EVOLVING, EVOLVING, CLASS_ISA },
	    { PRIVATE, PRIVATE, CLASS_ISA } } },
	{ "syscall",
	  { { EVOLVING, EVOLVING, CLASS_COMMON },
	    { PRIVATE, PRIVATE, CLASS_UNKNOWN },
	    { 4, 4, CLASS_ISA },
	    { EVOLVING, EVOLVING, CLASS_COMMON },
	    { PRIVATE, PRIVATE, CLASS_ISA } } },
};

void cli_attributes(const struct dif_world *world, const char *provider,
		    struct dif_attribute ret[CLI_ATTRIBUTES])
{
	if (world->attributes && world->attributes(world->env, provider, ret))
		return;
	for (unsigned i = 0; i < CLI_ATTRIBUTES; i++)
		ret[i] = (struct dif_attribute){ PRIVATE, PRIVATE, CLASS_UNKNOWN };
	for (size_t k = 0; k < OT_ARRAY_SIZE(known); k++)
		if (!strcmp(known[k].provider, provider))
			memcpy(ret, known[k].attrs, sizeof(known[k].attrs));
}

static void lower(struct dif_attribute *a, struct dif_attribute b)
{
	if (b.name < a->name)
		a->name = b.name;
	if (b.data < a->data)
		a->data = b.data;
	if (b.class < a->class)
		a->class = b.class;
}

struct dif_attribute cli_minimum_attribute(const struct dif_attribute *attrs, unsigned n)
{
	struct dif_attribute least = { STANDARD, STANDARD, CLASS_COMMON };

	for (unsigned i = 0; i < n; i++)
		lower(&least, attrs[i]);
	return least;
}

void cli_print_attribute(const char *heading, struct dif_attribute attr, FILE *fp)
{
	fprintf(fp, "\n\t%s\n\t\tIdentifier Names: %s\n\t\tData Semantics:   %s\n\t\tDependency Class: %s\n",
		heading, stabilities[attr.name % OT_ARRAY_SIZE(stabilities)],
		stabilities[attr.data % OT_ARRAY_SIZE(stabilities)],
		classes[attr.class % OT_ARRAY_SIZE(classes)]);
}

/* What the probes that clauses match have in common at least. */
struct common {
	const struct dif_world *world;
	const struct dif_probedesc *desc;
	struct dif_attribute least;
};

/* A description counts by the parts that it names: what is left empty, nobody relies on. */
static bool lower_by_probe(void *arg, const struct dif_probe_info *probe)
{
	struct common *c = arg;
	const char *const parts[] = { probe->provider, c->desc->module, c->desc->function, c->desc->name };
	struct dif_attribute attrs[CLI_ATTRIBUTES];

	cli_attributes(c->world, probe->provider, attrs);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(parts); i++)
		if (*parts[i] || c->desc->id)
			lower(&c->least, attrs[i]);
	return true;
}

/* Built-in variables that are not Stable in everything. */
static void lower_by_variable(struct dif_attribute *least, uint32_t id)
{
	switch (id) {
	case DIF_VAR_curthread: /* the name is, what it points to is the kernel's own */
		lower(least, (struct dif_attribute){ STABLE, PRIVATE, CLASS_COMMON });
		break;
	case DIF_VAR_caller:
	case DIF_VAR_ucaller:
	case DIF_VAR_regs:
	case DIF_VAR_uregs:
	case DIF_VAR_vmregs:
		lower(least, (struct dif_attribute){ EVOLVING, EVOLVING, CLASS_COMMON });
		break;
	}
}

static void lower_by_object(struct dif_attribute *least, const struct dif_object *obj)
{
	for (uint32_t i = 0; obj && i < obj->var_len; i++)
		lower_by_variable(least, obj->vars[i].id);
}

static struct dif_attribute statement_attribute(const struct cli_compilation *c,
						const struct cli_compiled *unit)
{
	struct dif_attribute least = { STABLE, STABLE, CLASS_COMMON };

	for (uint32_t i = unit->first; i < unit->end; i++) {
		const struct dif_clause *clause = &c->prog.clauses[i];
		lower_by_object(&least, clause->predicate);
		for (uint32_t k = 0; k < clause->nactions; k++)
			lower_by_object(&least, clause->actions[k].object);
	}
	return least;
}

void cli_report_stability(const struct cli_compilation *c, const struct cli_compiled *unit,
			  const struct dif_world *world, FILE *fp)
{
	struct common common = { .world = world, .least = { STANDARD, STANDARD, CLASS_COMMON } };

	for (uint32_t i = unit->first; i < unit->end; i++) {
		uint64_t count = 0;
		common.desc = &c->prog.clauses[i].probe;
		ot_err_destroy(world->match(world->env, common.desc, lower_by_probe, &common, &count));
	}
	fprintf(fp, "\nStability attributes for %s %s:\n", unit->what, unit->name);
	cli_print_attribute("Minimum Probe Description Attributes", common.least, fp);
	cli_print_attribute("Minimum Statement Attributes", statement_attribute(c, unit), fp);
}
