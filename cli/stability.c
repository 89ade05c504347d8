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

/* A description counts by the parts that it names: what is left empty is relied on by nobody. */
static struct dif_attribute description_attribute(const struct dif_probedesc *desc,
						  const struct dif_attribute *attrs)
{
	const char *const parts[] = { desc->provider, desc->module, desc->function, desc->name };
	struct dif_attribute least = { STANDARD, STANDARD, CLASS_COMMON };

	for (unsigned i = 0; i < OT_ARRAY_SIZE(parts); i++)
		if (*parts[i] || desc->id)
			lower(&least, attrs[i]);
	return least;
}

void cli_report_stability(const struct cli_compilation *c, const struct cli_compiled *unit,
			  const struct dif_world *world, FILE *fp)
{
	struct dif_attribute least = { STANDARD, STANDARD, CLASS_COMMON };
	struct dif_attribute attrs[CLI_ATTRIBUTES];

	for (uint32_t i = unit->first; i < unit->end; i++) {
		const struct dif_probedesc *desc = &c->prog.clauses[i].probe;
		cli_attributes(world, desc->provider, attrs);
		lower(&least, description_attribute(desc, attrs));
	}
	fprintf(fp, "\nStability attributes for %s %s:\n", unit->what, unit->name);
	cli_print_attribute("Minimum Probe Description Attributes", least, fp);
}
