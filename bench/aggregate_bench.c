/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of the consumer's side of aggregations: a million keys merged into an empty aggregation, merged
 * into it once more, sorted by value, and printed. Keys are integers, then strings of 256 bytes. Times are
 * CPU time: there is one thread, and it never waits.
 *
 *   aggregate_bench
 */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "consumer/output/output.h"
#include "dif/vm/agg.h"

#define KEYS         1000000u
#define GOAL_SECONDS 2.0
#define GOAL_MIB     400.0

/* @a[key] = sum(value), as a session would deliver it. */
struct bench {
	struct dif_program prog;
	struct dif_aggvar var;
	struct dif_object key;
	struct dif_action actions[2];
	struct dif_clause clause;
	struct dif_clause_layout layout;
	struct vp_enabled ecb;
	struct ot_arena arena;
	struct con_output *out;
	struct dif_options options;
	struct con_aggs aggs;
};

static void must(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "aggregate_bench: %s\n", ot_err_message(err));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void setup(struct bench *b, struct dif_rtype key)
{
	const struct dif_layout_opts opts = { .strsize = 256 };

	memset(b, 0, sizeof(*b));
	ot_arena_init(&b->arena);
	b->var = (struct dif_aggvar){ "a", 1, DIF_AGG_sum, 0, 1 };
	b->prog.aggs = &b->var;
	b->prog.naggs = 1;
	b->key.ret = key;
	b->actions[0] = (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true, .object = &b->key };
	b->actions[1] =
	    (struct dif_action){ .kind = (enum dif_action_kind)DIF_AGG_sum, .ntuple = 2, .aggid = 1 };
	b->clause = (struct dif_clause){ .actions = b->actions, .nactions = 2 };
	must(dif_clause_layout(&b->clause, &opts, &b->arena, &b->layout));
	b->ecb = (struct vp_enabled){ .epid = 1, .clause = &b->clause, .layout = &b->layout };
	FILE *fp = fopen("/dev/null", "w");
	if (!fp)
		must(ot_err_new(OT_ERR_OS, "cannot write to /dev/null"));
	must(con_output_create(&con_output_text, &b->options, fp, &b->out));
	must(con_aggs_init(&b->aggs, &b->prog));
}

static void teardown(struct bench *b)
{
	con_aggs_deinit(&b->aggs);
	ot_arena_deinit(&b->arena);
	fclose(b->out->printer.fp);
	con_output_destroy(b->out);
}

/* Key and value number @i; the order of arrival is neither that of keys nor that of values. */
static void give(struct bench *b, uint64_t i)
{
	const struct dif_agg_layout *l = &b->layout.aggs[0];
	uint64_t number = i * 7919 % KEYS, word = i * 104729 % 65536;
	static uint8_t tuple[512];

	tuple[0] = 1; /* the aggregation's id */
	if (l->keys[0].size == sizeof(number))
		memcpy(tuple + l->keys[0].offset, &number, sizeof(number));
	else
		snprintf((char *)tuple + l->keys[0].offset, l->keys[0].size, "process-%llu",
			 (unsigned long long)number);
	struct vp_aggregate delta = {
		.ecb = &b->ecb, .layout = l, .action = &b->actions[1], .tuple = tuple, .words = &word
	};
	must(con_aggs_add(&b->aggs, &b->out->printer, &delta));
}

static double megabytes(void)
{
	struct rusage use;

	getrusage(RUSAGE_SELF, &use);
	return (double)use.ru_maxrss / 1024;
}

static void run(const char *name, struct dif_rtype key)
{
	const struct con_agg_order order = { 0 };
	struct con_agg_entry **sorted;
	struct bench b;

	setup(&b, key);
	double start = now();
	for (uint64_t i = 0; i < KEYS; i++)
		give(&b, i);
	double merged = now();
	must(con_agg_sort(con_aggs_get(&b.aggs, 1), &order, &sorted));
	double done = now(), seconds = done - start, mib = megabytes();
	free(sorted);
	printf("%s: merged %.2f s, sorted %.2f s; %.0f MiB\n", name, merged - start, done - merged, mib);
	printf("goal: under %.0f s and %.0f MiB: %.2f s, %.0f MiB: %s\n", GOAL_SECONDS, GOAL_MIB, seconds,
	       mib, seconds < GOAL_SECONDS && mib < GOAL_MIB ? "MET" : "MISSED");
	start = now();
	for (uint64_t i = 0; i < KEYS; i++)
		give(&b, i);
	merged = now();
	must(con_print_rest(b.out, &b.aggs));
	printf("%s: merged again %.2f s, sorted and printed %.2f s\n", name, merged - start, now() - merged);
	teardown(&b);
}

int main(void)
{
	run("1,000,000 integer keys", (struct dif_rtype){ .size = 8 });
	run("1,000,000 string keys", (struct dif_rtype){ .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF });
	return 0;
}
