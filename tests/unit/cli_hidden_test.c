/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences found in each round, and how they are shown: cli/hidden.c, output/text_comparison.c, json.c. */
#include "cli/hidden.h"
#include "tests/unit/cli_test_print.h"

#define ALL (VP_TASK_LIST | VP_TASK_PIDS | CLI_HIDDEN_INSIDE)

static void see(struct vp_census *c, uint64_t id, uint64_t since, uint32_t ways, const char *name)
{
	for (uint32_t way = 1; way; way <<= 1)
		if (ways & way)
			assert_null(vp_census_add(c, id, since, way, name, strlen(name)));
}

/* A round in which PID 7 is seen in @ways, and 5 and 9 in all. */
static void go(struct cli_hidden *h, uint32_t ways, uint64_t since)
{
	struct vp_census c = { .ways = ALL };

	see(&c, 9, 0, ALL, "nine");
	see(&c, 7, since, ways, "seven");
	see(&c, 5, 50, ALL, "five");
	vp_census_join(&c);
	cli_hidden_round(h, &c);
	assert_int_equal(c.count, 0);
}

static void test_steady(void **state)
{
	struct cli_hidden h = { 0 };

	(void)state;
	assert_false(cli_hidden_done(&h));
	for (unsigned i = 0; i < CLI_HIDDEN_ROUNDS; i++) {
		assert_false(cli_hidden_done(&h));
		go(&h, ALL & ~(uint32_t)VP_TASK_LIST, 70);
	}
	assert_true(cli_hidden_done(&h));
	assert_int_equal(h.differing.count, 1);
	assert_int_equal(h.differing.items[0].id, 7);
	cli_hidden_deinit(&h);
}

/* Neither what is there only sometimes, nor what misses elsewhere each time, nor another of the same number.
 */
static void test_unsteady(void **state)
{
	const struct {
		uint32_t ways;
		uint64_t since;
	} second[] = { { ALL, 70 }, { 0, 70 }, { VP_TASK_LIST, 70 }, { ALL & ~(uint32_t)VP_TASK_LIST, 71 } };

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(second); i++) {
		struct cli_hidden h = { 0 };

		go(&h, ALL & ~(uint32_t)VP_TASK_LIST, 70);
		go(&h, second[i].ways, second[i].since);
		assert_true(cli_hidden_done(&h)); /* early: no candidate is left */
		assert_int_equal(h.differing.count, 0);
		cli_hidden_deinit(&h);
	}
}

static void shows(const struct cli_hidden_kind *kind, const struct cli_hidden *h, uint32_t ways,
		  const char *table, const char *json)
{
	struct output o;

	output_init(&o);
	assert_null(cli_output_text.hidden(output_by(&o, &cli_output_text), kind, h, ways));
	output_is(&o, table);
	assert_null(cli_output_json.hidden(output_by(&o, &cli_output_json), kind, h, ways));
	output_is(&o, json);
	output_deinit(&o);
}

static void test_output(void **state)
{
	struct cli_hidden h = { 0 };
	struct vp_census c = { .ways = ALL };

	(void)state;
	cli_hidden_round(&h, &c);
	shows(&cli_hidden_tasks, &h, ALL, "nothing hidden: all processes are seen in every way\n", "[]\n");
	cli_hidden_deinit(&h);

	h = (struct cli_hidden){ 0 };
	c = (struct vp_census){ .ways = ALL };
	see(&c, 7, 70, VP_TASK_LIST | VP_TASK_PIDS,
	    "a\033\xc2\x9b"
	    "2J\xff");
	see(&c, 8, 0, CLI_HIDDEN_INSIDE, "");
	vp_census_join(&c);
	cli_hidden_round(&h, &c);
	shows(&cli_hidden_tasks, &h, ALL,
	      "     PID  NAME                         tasks      pids      proc\n"
	      "       7  a??2J?                        seen      seen         -\n"
	      "       8                                   -         -      seen\n",
	      "[\n  {\"pid\": 7, \"name\": \"a\\u001b\xc2\x9b"
	      "2J\\ufffd\", \"seen\": [\"tasks\", \"pids\"], \"missing\": "
	      "[\"proc\"], "
	      "\"outside\": true, \"inside\": false},"
	      "\n  {\"pid\": 8, \"name\": \"\", \"seen\": [\"proc\"], \"missing\": [\"tasks\", \"pids\"], "
	      "\"outside\": false, \"inside\": true}\n]\n");
	cli_hidden_deinit(&h);
}

/* Modules are distinguished by name. */
static void test_modules(void **state)
{
	const uint32_t all = VP_MODULE_LIST | VP_MODULE_SYSFS | CLI_HIDDEN_INSIDE;
	struct cli_hidden h = { 0 };

	(void)state;
	for (unsigned i = 0; i < CLI_HIDDEN_ROUNDS; i++) {
		struct vp_census c = { .ways = all };

		see(&c, 0, 0, all, "loop");
		see(&c, 0, 0, VP_MODULE_SYSFS, "hide");
		see(&c, 0, 0, i & 1 ? all : VP_MODULE_LIST, "coming");
		see(&c, 0, 0, all, "bridge");
		vp_census_join(&c);
		cli_hidden_round(&h, &c);
	}
	shows(&cli_hidden_modules, &h, all,
	      "NAME                       modules     sysfs      proc\n"
	      "hide                             -      seen         -\n",
	      "[\n  {\"name\": \"hide\", \"seen\": [\"sysfs\"], \"missing\": [\"modules\", \"proc\"], "
	      "\"outside\": true, \"inside\": false}\n]\n");
	cli_hidden_deinit(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_unsteady),
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
