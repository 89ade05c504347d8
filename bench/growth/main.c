/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 *   growth_bench                      the series: name, counted function, sizes
 *   growth_bench SERIES ROUNDS [SIZE…]  a line for each size in each round: size, ns, hits, lost, dropped,
 * retries
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/growth/growth.h"

static const struct growth_series *const tables[] = { growth_vcpus, growth_clauses, growth_probes,
						      growth_keys, growth_consumer };

bool growth_counting;

static void list(void)
{
	for (size_t t = 0; t < OT_ARRAY_SIZE(tables); t++)
		for (const struct growth_series *s = tables[t]; s->name; s++) {
			printf("%s %s", s->name, s->counted ? s->counted : "-");
			for (const uint32_t *size = s->sizes; *size; size++)
				printf(" %" PRIu32, *size);
			putchar('\n');
		}
}

static const struct growth_series *find(const char *name)
{
	for (size_t t = 0; t < OT_ARRAY_SIZE(tables); t++)
		for (const struct growth_series *s = tables[t]; s->name; s++)
			if (!strcmp(s->name, name))
				return s;
	return NULL;
}

static void measure(const struct growth_series *s, uint32_t size)
{
	struct growth_counts c = { 0 };
	double ns = s->measure(size, &c);

	printf("%" PRIu32 " %.2f %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", size, ns,
	       c.calls, c.hits, c.lost, c.dropped, c.retries);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct growth_series *s = argc > 2 ? find(argv[1]) : NULL;

	if (argc == 1) {
		list();
		return 0;
	}
	if (!s) {
		fprintf(stderr, "usage: growth_bench [SERIES ROUNDS [SIZE ...]]\n");
		return 2;
	}
	int rounds = atoi(argv[2]);
	growth_counting = !rounds;
	for (int round = 0; round < rounds + growth_counting; round++) {
		for (int i = 3; i < argc; i++)
			measure(s, (uint32_t)strtoul(argv[i], NULL, 10));
		for (const uint32_t *size = s->sizes; argc == 3 && *size; size++)
			measure(s, *size);
	}
	return 0;
}
