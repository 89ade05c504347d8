/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A hit against the keys of an aggregation and of an associative array, from the second hit of each key on.
 */
#include "bench/growth/growth.h"

#define HITS_MIN 200000u

static double measure(const char *text, const struct bench_sizes *sizes, uint32_t keys,
		      struct growth_counts *ret)
{
	uint32_t hits = keys > HITS_MIN ? keys : HITS_MIN;
	struct growth_traced t;

	growth_trace(&t, text, 1, 1, sizes);
	growth_hits(&t, keys, keys, ret);
	double ns = growth_hits(&t, hits, keys, ret);
	growth_untrace(&t, ret);
	return ns;
}

/* Buffers with twice the room that the keys need. */
static double aggregation(uint32_t keys, struct growth_counts *ret)
{
	const struct bench_sizes sizes = { .bufsize = 64u << 10, .aggsize = (64u << 10) + 128ull * keys };

	return measure("fbt:::entry { @[arg0] = count(); }", &sizes, keys, ret);
}

static double array(uint32_t keys, struct growth_counts *ret)
{
	const struct bench_sizes sizes = { .bufsize = 64u << 10, .dynvars = (64u << 10) + 256ull * keys };

	return measure("fbt:::entry { a[arg0] = 1; }", &sizes, keys, ret);
}

#define KEYS                                                    \
	{                                                       \
		10, 100, 1000, 10000, 100000, 1000000, 10000000 \
	}

const struct growth_series growth_keys[] = { { "keys.aggregation", "vp_engine_hit", aggregation, KEYS },
					     { "keys.array", "vp_engine_hit", array, KEYS },
					     { 0 } };
