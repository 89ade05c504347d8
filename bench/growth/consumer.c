/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each key of an aggregation costs the consumer: merged for the first time, merged again, sorted. */
#include <stdlib.h>
#include <string.h>

#include "bench/growth/growth.h"
#include "consumer/output/output.h"
#include "dif/vm/agg.h"

/* @a[key] = sum(value), as a session would deliver it. */
struct merging {
	struct dif_program prog;
	struct dif_aggvar var;
	struct dif_object key;
	struct dif_action actions[2];
	struct dif_clause clause;
	struct dif_clause_layout layout;
	struct vp_enabled ecb;
	struct ot_arena arena;
	struct con_printer printer;
	struct con_aggs aggs;
};

static void begin(struct merging *m)
{
	const struct dif_layout_opts opts = { .strsize = 256 };

	*m = (struct merging){ .var = { "a", 1, DIF_AGG_sum, 0, 1 } };
	ot_arena_init(&m->arena);
	m->prog.aggs = &m->var;
	m->prog.naggs = 1;
	m->key.ret = bench_u64;
	m->actions[0] = (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true, .object = &m->key };
	m->actions[1] =
	    (struct dif_action){ .kind = (enum dif_action_kind)DIF_AGG_sum, .ntuple = 2, .aggid = 1 };
	m->clause = (struct dif_clause){ .actions = m->actions, .nactions = 2 };
	bench_must(dif_clause_layout(&m->clause, &opts, &m->arena, &m->layout));
	m->ecb = (struct vp_enabled){ .epid = 1, .clause = &m->clause, .layout = &m->layout };
	bench_must(con_aggs_init(&m->aggs, &m->prog));
}

static void end(struct merging *m)
{
	con_aggs_deinit(&m->aggs);
	ot_arena_deinit(&m->arena);
}

/* Keys from 0 to @n - 1, not in that order; ns each. */
static double merge_all(struct merging *m, uint32_t n)
{
	const struct dif_agg_layout *l = &m->layout.aggs[0];
	uint8_t tuple[64] = { 1 }; /* the aggregation's id */
	double start = bench_cpu_ns();

	for (uint64_t i = 0; i < n; i++) {
		uint64_t key = i * 7919 % n, word = i * 104729 % 65536;
		struct vp_aggregate delta = {
			.ecb = &m->ecb, .layout = l, .action = &m->actions[1], .tuple = tuple, .words = &word
		};
		memcpy(tuple + l->keys[0].offset, &key, sizeof(key));
		bench_must(con_aggs_add(&m->aggs, &m->printer, &delta));
	}
	return (bench_cpu_ns() - start) / n;
}

static double merge_new(uint32_t n, struct growth_counts *ret)
{
	struct merging m;

	ret->calls += n;
	begin(&m);
	double ns = merge_all(&m, n);
	end(&m);
	return ns;
}

static double merge_again(uint32_t n, struct growth_counts *ret)
{
	struct merging m;

	(void)ret;
	begin(&m);
	merge_all(&m, n);
	double ns = merge_all(&m, n);
	end(&m);
	return ns;
}

static double sort(uint32_t n, struct growth_counts *ret)
{
	const struct con_agg_order order = { 0 };
	struct con_agg_entry **sorted;
	struct merging m;

	ret->calls += n; /* of the elements */
	begin(&m);
	merge_all(&m, n);
	double start = bench_cpu_ns();
	bench_must(con_agg_sort(con_aggs_get(&m.aggs, 1), &order, &sorted));
	double took = bench_cpu_ns() - start;
	free(sorted);
	end(&m);
	return took / n;
}

#define KEYS                                                    \
	{                                                       \
		10, 100, 1000, 10000, 100000, 1000000, 10000000 \
	}

const struct growth_series growth_consumer[] = { { "keys.merge-new", "con_aggs_add", merge_new, KEYS },
						 { "keys.merge-again", NULL, merge_again, KEYS },
						 { "keys.sort", "con_agg_sort", sort, KEYS },
						 { 0 } };
