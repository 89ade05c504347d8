/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often a program takes samples. */
#include <stdlib.h>
#include <string.h>

#include "consumer/output/pprof_tables.h"

/* The period of "profile-97" or "profile-10ms"; 0: another probe. */
static uint64_t period_of(const char *name)
{
	static const struct {
		const char *word;
		uint64_t ns; /* 0: the number is a rate */
	} units[] = { { "", 0 },           { "hz", 0 },          { "ns", 1 },       { "nsec", 1 },
		      { "us", 1000 },      { "usec", 1000 },     { "ms", 1000000 }, { "msec", 1000000 },
		      { "s", 1000000000 }, { "sec", 1000000000 } };
	unsigned long n;
	char *end;

	if (strncmp(name, "profile-", 8) != 0)
		return 0;
	n = strtoul(name + 8, &end, 10);
	for (size_t i = 0; n && n <= 1000000000 && i < OT_ARRAY_SIZE(units); i++)
		if (!strcmp(end, units[i].word))
			return units[i].ns ? n * units[i].ns : 1000000000u / n;
	return 0;
}

static bool takes_stacks(const struct dif_clause *clause)
{
	for (uint32_t i = 0; i < clause->nactions; i++)
		switch ((unsigned)clause->actions[i].kind) {
		case DIF_ACT_stack:
		case DIF_ACT_ustack:
		case DIF_ACT_jstack:
			return true;
		default:
			break;
		}
	return false;
}

uint64_t con_pprof_period(const struct dif_program *prog)
{
	uint64_t period = 0;
	bool any = false;

	for (uint32_t i = 0; i < prog->nclauses; i++) {
		const struct dif_clause *clause = &prog->clauses[i];
		if (!takes_stacks(clause))
			continue;
		uint64_t its = clause->probe.name ? period_of(clause->probe.name) : 0;
		if (!its || (any && its != period))
			return 0;
		period = its;
		any = true;
	}
	return period;
}
