/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging by key, order, tables, joined printa() and comparisons: cli/aggregate*.c, agg_view.c,
 * output/text_aggregate.c, text_comparison.c, json.c. */
#include "dif/vm/agg.h"
#include "tests/unit/consumer_test_print.h"

/* A program with two aggregations keyed by (string, int); one clause feeds each. */
struct fixture {
	struct output o;
	struct dif_program prog;
	struct dif_aggvar vars[2];
	struct dif_object string_key, int_key;
	struct dif_action actions[2][3];
	struct dif_clause clauses[2];
	struct ot_arena arena;
	struct dif_clause_layout layouts[2];
	struct vp_enabled ecbs[2];
	struct con_aggs aggs;
	struct ot_account *account; /* of what is added; NULL */
};

static void setup(struct fixture *f, enum dif_agg_kind a, enum dif_agg_kind b)
{
	const struct dif_layout_opts opts = { .strsize = 16, .stackframes = 4 };
	const enum dif_agg_kind kinds[2] = { a, b };

	memset(f, 0, sizeof(*f));
	output_init(&f->o);
	ot_arena_init(&f->arena);
	f->string_key.ret = (struct dif_rtype){ .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF };
	f->int_key.ret = (struct dif_rtype){ .size = 4 };
	for (unsigned i = 0; i < 2; i++) {
		f->vars[i] = (struct dif_aggvar){ i ? "b" : "a", i + 1, kinds[i], 0, 2 };
		f->actions[i][0] =
		    (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true, .object = &f->string_key };
		f->actions[i][1] =
		    (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true, .object = &f->int_key };
		f->actions[i][2] = (struct dif_action){ .kind = (enum dif_action_kind)kinds[i],
							.ntuple = 3,
							.aggid = i + 1 };
		f->clauses[i] = (struct dif_clause){ .actions = f->actions[i], .nactions = 3 };
		assert_null(dif_clause_layout(&f->clauses[i], &opts, &f->arena, &f->layouts[i]));
		assert_int_equal(f->layouts[i].naggs, 1);
		f->ecbs[i] =
		    (struct vp_enabled){ .epid = i + 1, .clause = &f->clauses[i], .layout = &f->layouts[i] };
	}
	f->prog.aggs = f->vars;
	f->prog.naggs = 2;
	assert_null(con_aggs_init(&f->aggs, &f->prog));
}

static void teardown(struct fixture *f)
{
	con_aggs_deinit(&f->aggs);
	ot_arena_deinit(&f->arena);
	output_deinit(&f->o);
}

static void add_words(struct fixture *f, unsigned which, const char *s, int n, const uint64_t *words)
{
	const struct dif_agg_layout *l = &f->layouts[which].aggs[0];
	uint8_t tuple[64] = { 0 };
	uint32_t id = which + 1;

	memcpy(tuple, &id, 4);
	strcpy((char *)tuple + l->keys[0].offset, s);
	memcpy(tuple + l->keys[1].offset, &n, 4);
	struct vp_aggregate delta = { .ecb = &f->ecbs[which],
				      .layout = l,
				      .action = &f->actions[which][2],
				      .tuple = tuple,
				      .words = words,
				      .account = f->account };
	assert_null(con_aggs_add(&f->aggs, &f->o.p, &delta));
}

static void add(struct fixture *f, unsigned which, const char *s, int n, uint64_t value)
{
	uint64_t words[160]; /* a histogram's are most */

	dif_agg_init(f->vars[which].kind, 0, words);
	dif_agg_update(f->vars[which].kind, 0, words, value, 1);
	add_words(f, which, s, n, words);
}

static void table_is(struct fixture *f, const char *expected)
{
	for (unsigned i = 0; i < 2; i++)
		for (size_t k = 0; k < f->aggs.vars[i].count; k++)
			f->aggs.vars[i].entries[k]->source->printed = false;
	assert_null(con_print_rest(output_by(&f->o, &con_output_text), &f->aggs));
	output_is(&f->o, expected);
}

#define NAME(s) "  " s "                                                 "

static void test_merge_and_order(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_AGG_sum, DIF_AGG_max);
	add(&f, 0, "b", 1, 5);
	add(&f, 0, "a", -1, 2);
	add(&f, 0, "b", 1, 5);
	add(&f, 0, "a", 2, 2);
	add(&f, 1, "z", 9, 7);
	add(&f, 1, "z", 9, 3);
	/* by value, then key; negative keys count as large; variables in order of definition */
	table_is(&f, NAME("a") "        2                2\n" NAME("a") "       -1                2\n" NAME(
			 "b") "        1               10\n" NAME("z") "        9                7\n");
	f.o.opts.aggsortrev = true;
	table_is(&f, NAME("z") "        9                7\n" NAME("b") "        1               10\n" NAME(
			 "a") "       -1                2\n" NAME("a") "        2                2\n");
	f.o.opts.aggsortrev = false;
	f.o.opts.aggsortkey = true;
	f.o.opts.aggsortkeypos = 1;
	table_is(&f, NAME("b") "        1               10\n" NAME("a") "        2                2\n" NAME(
			 "a") "       -1                2\n" NAME("z") "        9                7\n");
	teardown(&f);
}

static void test_clear_normalize_trunc(void **state)
{
	struct fixture f;
	struct con_agg *agg;

	(void)state;
	setup(&f, DIF_AGG_sum, DIF_AGG_min);
	agg = con_aggs_get(&f.aggs, 1);
	add(&f, 0, "a", 1, 10);
	add(&f, 0, "b", 1, 20);
	add(&f, 0, "c", 1, 30);
	con_agg_normalize(agg, 10);
	add(&f, 0, "d", 1, 5); /* came after normalize(): as it is */
	table_is(&f, NAME("d") "        1                5\n" NAME("a") "        1                1\n" NAME(
			 "b") "        1                2\n" NAME("c") "        1                3\n");
	assert_null(con_agg_trunc(agg, 2));
	con_agg_normalize(agg, 1);
	table_is(&f, NAME("b") "        1               20\n" NAME("c") "        1               30\n");
	assert_null(con_agg_trunc(agg, -1));
	table_is(&f, NAME("b") "        1               20\n");
	add(&f, 0, "b", 1, 1); /* still found by its key */
	table_is(&f, NAME("b") "        1               21\n");
	con_agg_clear(agg);
	table_is(&f, NAME("b") "        1                0\n");
	assert_null(con_agg_trunc(agg, 0));
	table_is(&f, "");
	/* min continues from 0 after clear() */
	add(&f, 1, "m", 1, 5);
	con_agg_clear(con_aggs_get(&f.aggs, 2));
	add(&f, 1, "m", 1, 5);
	table_is(&f, NAME("m") "        1                0\n");
	teardown(&f);
}

static void test_values(void **state)
{
	uint64_t avg[] = { 3, 10 }, dev[] = { 3, 6, 14, 0 }; /* 1, 2, 3 */
	uint64_t negative[] = { 2, (uint64_t)-7 };

	(void)state;
	assert_int_equal(con_aggval_number(&(struct con_aggval){ DIF_AGG_avg, 0, avg, 1 }), 3);
	assert_int_equal(con_aggval_number(&(struct con_aggval){ DIF_AGG_avg, 0, avg, 2 }), 1);
	assert_int_equal(con_aggval_number(&(struct con_aggval){ DIF_AGG_avg, 0, negative, 1 }), -3);
	assert_int_equal(con_aggval_number(&(struct con_aggval){ DIF_AGG_stddev, 0, dev, 1 }), 0);
	dev[1] = 30; /* 0, 0, 30 */
	dev[2] = 900;
	assert_int_equal(con_aggval_number(&(struct con_aggval){ DIF_AGG_stddev, 0, dev, 1 }), 14);
	dev[0] = 0;
	assert_int_equal(con_aggval_number(&(struct con_aggval){ DIF_AGG_stddev, 0, dev, 1 }), 0);
}

static void test_printa(void **state)
{
	const uint32_t one[] = { 1 }, both[] = { 1, 2 };
	struct dif_format fmt;
	struct fixture f;

	(void)state;
	setup(&f, DIF_AGG_sum, DIF_AGG_count);
	assert_null(con_printa(output_by(&f.o, &con_output_text), &f.aggs, one, 1, NULL));
	output_is(&f.o, "\n");
	assert_null(con_printa(output_by(&f.o, &con_output_text), &f.aggs, both, 2, NULL));
	output_is(&f.o, "\n");
	assert_false(f.aggs.vars[0].printed_empty); /* there was nothing at all */
	add(&f, 0, "x", 1, 5);
	add(&f, 0, "y", 2, 3);
	add(&f, 1, "y", 2, 0);
	add(&f, 1, "z", 3, 0);
	add(&f, 1, "z", 3, 0);
	assert_null(con_printa(output_by(&f.o, &con_output_text), &f.aggs, one, 1, NULL));
	output_is(&f.o,
		  "\n" NAME("y") "        2                3\n" NAME("x") "        1                5\n");
	assert_true(f.aggs.vars[0].entries[0]->source->printed);
	assert_false(f.aggs.vars[1].entries[0]->source->printed);

	assert_null(dif_format_parse("%s/%d: %@d %@5u|%@d\n", &f.arena, &fmt));
	assert_null(con_printa(output_by(&f.o, &con_output_text), &f.aggs, both, 2, &fmt));
	output_is(&f.o, "z/3: 0     2|2\ny/2: 3     1|1\nx/1: 5     0|0\n");
	f.o.opts.aggsortpos = 1;
	assert_null(con_printa(output_by(&f.o, &con_output_text), &f.aggs, both, 2, NULL));
	output_is(
	    &f.o,
	    "\n" NAME("x") "        1                5                0\n" NAME(
		"y") "        2                3                1\n" NAME("z") "        3                0   "
									       "             2\n");
	assert_null(con_print_rest(output_by(&f.o, &con_output_text), &f.aggs));
	output_is(&f.o, ""); /* all were printed */
	teardown(&f);
}

/* Two guests; one of them reports nothing. */
static const struct con_window_guest guests[] = {
	{ .name = "web\"01",
	  .clock = { .tsc = 7, .ns = 2000000003, .bound_ns = 90 },
	  .stolen = { .at_ns = 5000000000,
		      .nvcpus = 2,
		      .by_guest = true,
		      .vcpu_ns = { 1500000, 0 },
		      .by_host = true,
		      .host_ns = 250000 } },
	{ .name = "b", .stolen = { .at_ns = 1, .nvcpus = 1 } },
};

static void compare_by(const struct con_output_ops *ops, struct fixture *outside, struct fixture *inside,
		       uint32_t nguests)
{
	const struct con_window window = { .guests = (struct con_window_guest *)guests, .nguests = nguests };
	const struct con_comparison c = { &outside->aggs, &inside->aggs, &window, true };

	assert_null(ops->comparison(output_by(&outside->o, ops), &c));
}

/* Two views of one program: a row for each key of either, and the difference. */
static void test_comparison(void **state)
{
	struct fixture outside, inside;
	char expected[512];

	(void)state;
	setup(&outside, DIF_AGG_count, DIF_AGG_sum);
	setup(&inside, DIF_AGG_count, DIF_AGG_sum);
	for (int i = 0; i < 3; i++)
		add(&outside, 0, "a", 1, 1);
	add(&outside, 0, "b", 2, 1);
	add(&inside, 0, "a", 1, 1);
	add(&inside, 0, "c", 3, 1);
	compare_by(&con_output_text, &outside, &inside, 0);
	snprintf(expected, sizeof(expected),
		 "%61s %16s %16s %16s\n%s%9d %16d %16d %16s\n%s%9d %16d %16d %16s\n%s%9d %16d %16d %16s\n",
		 "", "outside", "inside", "difference", NAME("c"), 3, 0, 1, "+1", NAME("b"), 2, 1, 0, "-1",
		 NAME("a"), 1, 3, 1, "-2");
	output_is(&outside.o, expected);
	teardown(&inside);
	teardown(&outside);
}

/* Histograms in columns, on one scale: that of the one that has more. */
static void test_comparison_of_histograms(void **state)
{
	struct fixture outside, inside;

	(void)state;
	setup(&outside, DIF_AGG_quantize, DIF_AGG_sum);
	setup(&inside, DIF_AGG_quantize, DIF_AGG_sum);
	for (int i = 0; i < 4; i++)
		add(&outside, 0, "a", 1, i < 3 ? 4 : 16);
	add(&inside, 0, "a", 1, 8);
	add(&inside, 0, "a", 1, 16);
	compare_by(&con_output_text, &outside, &inside, 0);
	output_is(
	    &outside.o,
	    NAME("a") "        1\n"
		      "           value  ------ outside ----- count       ------ inside ------ count\n"
		      "               2 |                     0          |                     0         \n"
		      "               4 |@@@@@@@@@@@@@@@      3          |                     0         \n"
		      "               8 |                     0          |@@@@@                1         \n"
		      "              16 |@@@@@                1          |@@@@@                1         \n"
		      "              32 |                     0          |                     0         "
		      "\n\n");
	compare_by(&con_output_json, &outside, &inside, 0);
	output_is(
	    &outside.o,
	    "{\"aggregations\": [\n  {\"aggregation\": \"a\", \"keys\": [\"a\", 1], "
	    "\"outside\": {\"4\": 3, \"16\": 1}, \"inside\": {\"8\": 1, \"16\": 1}}\n], \"guests\": []}\n");
	teardown(&inside);
	teardown(&outside);
}

static void test_comparison_as_json(void **state)
{
	struct fixture outside, inside;

	(void)state;
	setup(&outside, DIF_AGG_count, DIF_AGG_sum);
	setup(&inside, DIF_AGG_count, DIF_AGG_sum);
	compare_by(&con_output_json, &outside, &inside, 0);
	output_is(&outside.o, "{\"aggregations\": [], \"guests\": []}\n");
	add(&outside, 0, "q\"\n\xff\xc3\xa9", -7, 1);
	add(&inside, 1, "12", 3, 5);
	compare_by(&con_output_json, &outside, &inside, 0);
	output_is(&outside.o, "{\"aggregations\": [\n  {\"aggregation\": \"a\", \"keys\": "
			      "[\"q\\\"\\u000a\\ufffd\xc3\xa9\", -7], "
			      "\"outside\": 1, \"inside\": 0, \"difference\": -1},"
			      "\n  {\"aggregation\": \"b\", \"keys\": [\"12\", 3], "
			      "\"outside\": 0, \"inside\": 5, \"difference\": 5}\n], \"guests\": []}\n");
	teardown(&inside);
	teardown(&outside);
}

/* What surrounds the tables: clocks and stolen time of each guest. */
static void test_windows(void **state)
{
	struct fixture outside, inside;

	(void)state;
	setup(&outside, DIF_AGG_count, DIF_AGG_sum);
	setup(&inside, DIF_AGG_count, DIF_AGG_sum);
	compare_by(&con_output_text, &outside, &inside, 1);
	output_is(
	    &outside.o,
	    "\ntimes inside are exact to 90 ns\n"
	    "clocks: the guest's counter stood at 7 when the host's clock stood at 2.000000003 s\n"
	    "stolen, as the guest counts it: vCPU 0 1.500 ms, vCPU 1 0.000 ms\n"
	    "stolen, as the host counts it: threads of the VMM waited 0.250 ms for a CPU, in 5.000 s\n");
	compare_by(&con_output_text, &outside, &inside, 2);
	output_is(&outside.o,
		  "\nguest web\"01:\ntimes inside are exact to 90 ns\n"
		  "clocks: the guest's counter stood at 7 when the host's clock stood at 2.000000003 s\n"
		  "stolen, as the guest counts it: vCPU 0 1.500 ms, vCPU 1 0.000 ms\n"
		  "stolen, as the host counts it: threads of the VMM waited 0.250 ms for a CPU, in 5.000 s\n"
		  "\nguest b:\nnothing was timed inside\n"
		  "stolen, as the guest counts it: unknown, its hypervisor doesn't report it\n");
	compare_by(&con_output_json, &outside, &inside, 2);
	output_is(
	    &outside.o,
	    "{\"aggregations\": [], \"guests\": [\n  {\"guest\": \"web\\\"01\", \"window_ns\": 5000000000, "
	    "\"clock\": {\"tsc\": 7, \"host_ns\": 2000000003, \"bound_ns\": 90}, "
	    "\"stolen_ns\": [1500000, 0], \"vmm_waited_ns\": 250000},"
	    "\n  {\"guest\": \"b\", \"window_ns\": 1, \"clock\": null, \"stolen_ns\": null, "
	    "\"vmm_waited_ns\": null}\n]}\n");
	teardown(&inside);
	teardown(&outside);
}

static void test_agghist(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_AGG_count, DIF_AGG_max);
	f.o.opts.agghist = true;
	add(&f, 0, "x", 1, 0);
	add(&f, 0, "y", 1, 0);
	add(&f, 0, "y", 1, 0);
	add(&f, 0, "y", 1, 0);
	table_is(&f, "\n                       key  ------------- Distribution ------------- count    \n"
		     "                x        1 |@@@@@@@@@@                               1        \n"
		     "                y        1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n");
	teardown(&f);
}

/* Many keys: all are found again, none twice. */
static void test_many_keys(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, DIF_AGG_count, DIF_AGG_max);
	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 20000; i++)
			add(&f, 0, i & 1 ? "odd" : "even", i, 0);
	assert_int_equal(f.aggs.vars[0].count, 20000);
	for (size_t i = 0; i < 20000; i++)
		assert_int_equal(f.aggs.vars[0].entries[i]->words[0], 2);
	assert_null(con_agg_trunc(&f.aggs.vars[0], 10));
	assert_int_equal(f.aggs.vars[0].count, 10);
	teardown(&f);
}

/* Whoever sends keys without end fills an account: what is there goes on counting, what finds no room is
 * counted as refused, and trunc() makes room again. */
static void test_account(void **state)
{
	struct ot_pool pool = { .most = 10000 };
	struct ot_account account;
	struct con_agg *agg;
	struct fixture f;
	size_t most;

	(void)state;
	setup(&f, DIF_AGG_sum, DIF_AGG_sum);
	agg = con_aggs_get(&f.aggs, 1);
	ot_account_open(&account, &pool);
	f.account = &account;
	for (int i = 0; i < 1000; i++)
		add(&f, 0, "k", i, 1);
	most = agg->count;
	assert_in_range(most, 20, 200);
	assert_int_equal(account.refused, 1000 - most);
	assert_true(pool.bytes <= pool.most);
	add(&f, 0, "k", 3, 41);
	assert_int_equal(agg->entries[3]->words[0], 42);
	assert_int_equal(agg->count, most);
	/* this host's own data has no such limit */
	f.account = NULL;
	add(&f, 1, "own", 1, 1);
	assert_int_equal(con_aggs_get(&f.aggs, 2)->count, 1);
	assert_null(con_agg_trunc(agg, 0));
	assert_true(account.bytes < 500); /* its source */
	assert_int_equal(account.bytes, pool.bytes);
	f.account = &account;
	for (int i = 1000; i < 2000; i++)
		add(&f, 0, "k", i, 1);
	assert_int_equal(agg->count, most);
	teardown(&f);
}

/* A party can't use up the share of another one. */
static void test_shares(void **state)
{
	struct ot_pool pool = { .most = 1000 };
	struct ot_account a, b, c;

	(void)state;
	ot_account_open(&a, &pool);
	assert_true(ot_account_take(&a, 1000)); /* alone it may have all */
	assert_false(ot_account_take(&a, 1));
	ot_account_give(&a, 1000);
	ot_account_open(&b, &pool);
	ot_account_open(&c, &pool);
	assert_true(ot_account_take(&a, 500)); /* and beside others half */
	assert_false(ot_account_take(&a, 1));
	assert_true(ot_account_take(&b, 500));
	assert_true(ot_account_take(&c, 333));
	assert_false(ot_account_take(&c, 1));
	assert_false(ot_account_take(&c, UINT64_MAX));
	assert_int_equal(c.refused, 2);
	assert_int_equal(pool.bytes, 1333);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merge_and_order),
		cmocka_unit_test(test_account),
		cmocka_unit_test(test_shares),
		cmocka_unit_test(test_clear_normalize_trunc),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_printa),
		cmocka_unit_test(test_agghist),
		cmocka_unit_test(test_comparison),
		cmocka_unit_test(test_comparison_of_histograms),
		cmocka_unit_test(test_comparison_as_json),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_many_keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
