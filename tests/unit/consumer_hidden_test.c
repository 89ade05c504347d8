/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences found in each round, and how they are shown: consumer/hidden.c, output/text_comparison.c,
 * json.c. */
#include "consumer/hidden.h"
#include "tests/unit/consumer_test_print.h"

#define ALL (VP_TASK_LIST | VP_TASK_PIDS | CON_HIDDEN_INSIDE)

static void see(struct vp_census *c, uint64_t id, uint64_t since, uint32_t ways, const char *name)
{
	for (uint32_t way = 1; way; way <<= 1)
		if (ways & way)
			assert_null(vp_census_add(c, id, since, way, name, strlen(name)));
}

/* A round in which PID 7 is seen in @ways, and 5 and 9 in all. */
static void go(struct con_hidden *h, uint32_t ways, uint64_t since)
{
	struct vp_census c = { .ways = ALL };

	see(&c, 9, 0, ALL, "nine");
	see(&c, 7, since, ways, "seven");
	see(&c, 5, 50, ALL, "five");
	vp_census_join(&c);
	con_hidden_round(h, &c);
	assert_int_equal(c.count, 0);
}

static void test_steady(void **state)
{
	struct con_hidden h = { 0 };

	(void)state;
	assert_false(con_hidden_done(&h));
	for (unsigned i = 0; i < CON_HIDDEN_ROUNDS; i++) {
		assert_false(con_hidden_done(&h));
		go(&h, ALL & ~(uint32_t)VP_TASK_LIST, 70);
	}
	assert_true(con_hidden_done(&h));
	assert_int_equal(h.differing.count, 1);
	assert_int_equal(h.differing.items[0].id, 7);
	con_hidden_deinit(&h);
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
		struct con_hidden h = { 0 };

		go(&h, ALL & ~(uint32_t)VP_TASK_LIST, 70);
		go(&h, second[i].ways, second[i].since);
		assert_true(con_hidden_done(&h)); /* early: no candidate is left */
		assert_int_equal(h.differing.count, 0);
		con_hidden_deinit(&h);
	}
}

static void shows(const struct con_hidden_kind *kind, const struct con_hidden *h, uint32_t ways,
		  const char *table, const char *json)
{
	struct output o;

	output_init(&o);
	assert_null(con_output_text.hidden(output_by(&o, &con_output_text), kind, h, ways));
	output_is(&o, table);
	assert_null(con_output_json.hidden(output_by(&o, &con_output_json), kind, h, ways));
	output_is(&o, json);
	output_deinit(&o);
}

static void test_output(void **state)
{
	struct con_hidden h = { 0 };
	struct vp_census c = { .ways = ALL };

	(void)state;
	con_hidden_round(&h, &c);
	shows(&con_hidden_tasks, &h, ALL, "nothing hidden: all processes are seen in every way\n",
	      "{\"type\": \"result\", \"list\": \"processes\", \"differences\": 0}\n");
	con_hidden_deinit(&h);

	h = (struct con_hidden){ 0 };
	c = (struct vp_census){ .ways = ALL };
	see(&c, 7, 70, VP_TASK_LIST | VP_TASK_PIDS,
	    "a\033\xc2\x9b"
	    "2J\xff");
	see(&c, 8, 0, CON_HIDDEN_INSIDE, "");
	vp_census_join(&c);
	con_hidden_round(&h, &c);
	shows(&con_hidden_tasks, &h, ALL,
	      "     PID  NAME                         tasks      pids      proc\n"
	      "       7  a??2J?                        seen      seen         -\n"
	      "          the guest's /proc does not list it\n"
	      "       8                                   -         -      seen\n"
	      "          the guest lists it and its memory does not have it: it has ended since, or it is "
	      "made up\n",
	      "{\"type\": \"difference\", \"list\": \"processes\", \"pid\": 7, \"name\": \"a\\u001b\xc2\x9b"
	      "2J\\ufffd\", \"seen\": [\"tasks\", \"pids\"], \"missing\": "
	      "[\"proc\"], "
	      "\"outside\": true, \"inside\": false, \"meaning\": \"the guest's /proc does not list it\"}\n"
	      "{\"type\": \"difference\", \"list\": \"processes\", \"pid\": 8, \"name\": \"\", \"seen\": "
	      "[\"proc\"], "
	      "\"missing\": [\"tasks\", \"pids\"], \"outside\": false, \"inside\": true, \"meaning\": \"the "
	      "guest lists it and "
	      "its memory does not have it: it has ended since, or it is made up\"}\n"
	      "{\"type\": \"result\", \"list\": \"processes\", \"differences\": 2}\n");
	con_hidden_deinit(&h);
}

/* Modules are distinguished by name. */
static void test_modules(void **state)
{
	const uint32_t all = VP_MODULE_LIST | VP_MODULE_SYSFS | CON_HIDDEN_INSIDE;
	struct con_hidden h = { 0 };

	(void)state;
	for (unsigned i = 0; i < CON_HIDDEN_ROUNDS; i++) {
		struct vp_census c = { .ways = all };

		see(&c, 0, 0, all, "loop");
		see(&c, 0, 0, VP_MODULE_SYSFS, "hide");
		see(&c, 0, 0, i & 1 ? all : VP_MODULE_LIST, "coming");
		see(&c, 0, 0, all, "bridge");
		vp_census_join(&c);
		con_hidden_round(&h, &c);
	}
	shows(&con_hidden_modules, &h, all,
	      "NAME                       modules     sysfs      proc\n"
	      "hide                             -      seen         -\n"
	      "          unlinked from the list of modules, which lsmod prints; the guest's /proc/modules "
	      "does not "
	      "list it\n",
	      "{\"type\": \"difference\", \"list\": \"modules\", \"name\": \"hide\", \"seen\": [\"sysfs\"], "
	      "\"missing\": [\"modules\", \"proc\"], \"outside\": true, \"inside\": false, "
	      "\"meaning\": \"unlinked from the list of modules, which lsmod prints; the guest's "
	      "/proc/modules does not "
	      "list it\"}\n{\"type\": \"result\", \"list\": \"modules\", \"differences\": 1}\n");
	con_hidden_deinit(&h);
}

/* A socket, whose name may be long, and who has it open. */
static void test_sockets(void **state)
{
	const uint32_t all = VP_SOCKET_TABLES | VP_SOCKET_FILES | CON_HIDDEN_TEXT;
	struct vp_census c = { .ways = all };
	struct con_hidden h = { 0 };

	(void)state;
	see(&c, 0, 0, VP_SOCKET_TABLES | VP_SOCKET_FILES, "tcp 10.0.0.2:22 10.0.0.1:50000");
	c.items[1].owner = 42;
	vp_census_join(&c);
	con_hidden_round(&h, &c);
	h.change = CON_HIDDEN_GONE;
	h.time_ns = 7000000000;
	shows(
	    &con_hidden_sockets, &h, all,
	    "\n00:00:07 gone:\n"
	    "NAME                              tables     files      text\n"
	    "tcp 10.0.0.2:22 10.0.0.1:50000      seen      seen         -\n"
	    "          the text does not list it: it is hidden there, or newer (process 42)\n",
	    "{\"type\": \"gone\", \"time\": 7000000000, \"list\": \"sockets\", \"name\": \"tcp 10.0.0.2:22 "
	    "10.0.0.1:50000\", \"owner\": 42, \"seen\": [\"tables\", \"files\"], \"missing\": [\"text\"], "
	    "\"outside\": "
	    "true, \"inside\": false, \"meaning\": \"the text does not list it: it is hidden there, or newer "
	    "(process 42)\"}\n");
	con_hidden_deinit(&h);
}

/* What is new, or differs in other ways than before. */
static void test_beyond(void **state)
{
	struct con_hidden before = { 0 }, now = { 0 }, news;
	struct vp_census a = { .ways = ALL }, b = { .ways = ALL };

	(void)state;
	see(&a, 5, 0, VP_TASK_LIST, "stays");
	see(&a, 6, 0, VP_TASK_LIST, "gone");
	see(&a, 7, 0, VP_TASK_LIST, "changed");
	see(&a, 8, 1, VP_TASK_LIST, "another");
	vp_census_join(&a);
	con_hidden_round(&before, &a);
	see(&b, 4, 0, VP_TASK_LIST, "new");
	see(&b, 5, 0, VP_TASK_LIST, "stays");
	see(&b, 7, 0, VP_TASK_PIDS, "changed");
	see(&b, 8, 2, VP_TASK_LIST, "another");
	vp_census_join(&b);
	con_hidden_round(&now, &b);
	assert_null(con_hidden_beyond(&now, &before, &news));
	assert_int_equal(news.differing.count, 3);
	assert_int_equal(news.differing.items[0].id, 4);
	assert_int_equal(news.differing.items[1].id, 7);
	assert_int_equal(news.differing.items[2].since_ns, 2);
	con_hidden_deinit(&news);
	assert_null(con_hidden_beyond(&before, &now, &news));
	assert_int_equal(news.differing.count, 3);
	assert_string_equal(news.differing.items[0].name, "gone");
	con_hidden_deinit(&news);
	con_hidden_deinit(&before);
	con_hidden_deinit(&now);
}

int main(void)
{
	setenv("TZ", "UTC", 1);

	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steady),  cmocka_unit_test(test_unsteady),
		cmocka_unit_test(test_output),  cmocka_unit_test(test_modules),
		cmocka_unit_test(test_sockets), cmocka_unit_test(test_beyond),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
