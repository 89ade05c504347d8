/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probe descriptions at TAB: cli/complete_probes.c, with a list of this test's own and a clock that it sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/complete.h"

static const char *list;   /* what -l prints; NULL: it fails */
static unsigned asked;     /* how often it was */
static char asked_for[64]; /* -g's guest then */
static time_t now;
static char *offered; /* what is printed, a blank between two */

/* The program's own are stood in for. */
time_t time(time_t *ret)
{
	if (ret)
		*ret = now;
	return now;
}

bool cli_complete_ask(const char *const *argv, struct ot_buf *out)
{
	asked++;
	assert_string_equal(argv[1], "-x");
	assert_string_equal(argv[2], "noattach");
	assert_string_equal(argv[3], "-l");
	strcpy(asked_for, argv[4] ? argv[5] : "");
	ot_buf_puts(out, list ? list : "");
	return list != NULL;
}

static const char *complete(const char *word, char letter, const char *guest)
{
	struct cli_completion c = { .word = word };
	FILE *terminal = stdout;
	size_t len;

	free(offered);
	offered = NULL;
	ot_map_init(&c.printed);
	ot_arena_init(&c.arena);
	stdout = open_memstream(&offered, &len);
	cli_complete_probes(&c, letter, guest);
	fclose(stdout);
	stdout = terminal;
	ot_arena_deinit(&c.arena);
	ot_map_deinit(&c.printed);
	for (char *s = offered; (s = strchr(s, '\n')); s++)
		*s = s[1] ? ' ' : '\0';
	return offered;
}

static char dir[] = "/tmp/outsight-complete-XXXXXX"; /* made by the first test */

/* A cache of its own for each test; the clock goes on by an hour. */
static int setup(void **state)
{
	(void)state;
	now += 3600;
	if (now == 3600 && !mkdtemp(dir))
		return -1;
	return setenv("XDG_CACHE_HOME", dir, 1);
}

#define HEAD "   ID   PROVIDER            MODULE                          FUNCTION NAME\n"
#define LONG "a_function_with_a_name_that_is_longer_than_its_column"

static const char probes[] =
    HEAD "    1     dtrace                                                     BEGIN\n"
	 "   21         io           vmlinux                                   start\n"
	 "   22   dtmalloc                                                filp free\n"
	 "  300        fbt              ext4                       ext4_getattr entry\n"
	 "  301        fbt              ext4 " LONG " entry\n"
	 "dtrace: a message\n";

static void test_columns(void **state)
{
	(void)state;
	list = probes;
	assert_string_equal(complete("", 'n', "a"), "dtrace: io: dtmalloc: fbt:");
	assert_string_equal(complete("io:", 'n', "a"), "io:vmlinux:");
	assert_string_equal(complete("io::", 'n', "a"), "");
	assert_string_equal(complete("io:::", 'n', "a"), "io:::start");
	assert_string_equal(complete("dtmalloc:", 'n', "a"), "");
	assert_string_equal(complete("dtmalloc::", 'n', "a"), "dtmalloc::filp:");
	assert_string_equal(complete("dtmalloc::filp:", 'n', "a"), "dtmalloc::filp:free");
	assert_string_equal(complete("fbt::a", 'n', "a"), "fbt::" LONG ":");
	assert_string_equal(complete("dtrace:::", 'n', "a"), "dtrace:::BEGIN");
}

/* -P, -m and -f end with the field that they are about; -n is typed from the left. */
static void test_levels(void **state)
{
	(void)state;
	list = probes;
	assert_string_equal(complete("i", 'P', "a"), "io");
	assert_string_equal(complete("i:", 'P', "a"), "");
	assert_string_equal(complete("e", 'm', "a"), "ext4");
	assert_string_equal(complete("fbt:e", 'm', "a"), "fbt:ext4");
	assert_string_equal(complete("io:e", 'm', "a"), "");
	assert_string_equal(complete("fi", 'f', "a"), "filp");
	assert_string_equal(complete("ext4:ext", 'f', "a"), "ext4:ext4_getattr");
	assert_string_equal(complete("fbt:ext4:ext", 'f', "a"), "fbt:ext4:ext4_getattr");
	assert_string_equal(complete("a:b:c:d:e", 'n', "a"), "");
	assert_string_equal(complete("BEGIN { x", 'n', "a"), "");
}

static void test_kept(void **state)
{
	(void)state;
	list = probes;
	asked = 0;
	assert_string_equal(complete("io:::", 'n', "a"), "io:::start");
	assert_string_equal(asked_for, "a");
	list = HEAD "    1         io           vmlinux                                   stop\n";
	now += 599;
	assert_string_equal(complete("io:::", 'n', "a"), "io:::start");
	assert_int_equal(asked, 1);
	/* another guest's is another */
	assert_string_equal(complete("io:::", 'n', NULL), "io:::stop");
	assert_string_equal(asked_for, "");
	assert_int_equal(asked, 2);
	now += 2;
	assert_string_equal(complete("io:::", 'n', "a"), "io:::stop");
	assert_int_equal(asked, 3);
	/* a clock that was set back does not keep it for ever */
	now -= 1000;
	assert_string_equal(complete("io:::", 'n', "a"), "io:::stop");
	assert_int_equal(asked, 4);
}

/* A guest chooses the names of its functions: a shell gets plain words. */
static void test_hostile_names(void **state)
{
	(void)state;
	list = "    1        fbt              ext4                        $(reboot) entry\n"
	       "    2        fbt              ext4                         `reboot` entry\n"
	       "    3        fbt              ext4                         a;reboot entry\n"
	       "    4        fbt              ext4                          a\033[2Jb entry\n"
	       "    5        fbt              ext4                         harmless entry\n";
	assert_string_equal(complete("", 'f', "hostile"), "harmless");
	assert_string_equal(complete("fbt::", 'n', "hostile"), "fbt::harmless:");
}

static void test_no_list(void **state)
{
	(void)state;
	list = NULL;
	asked = 0;
	assert_string_equal(complete("", 'n', "b"), "");
	list = probes;
	assert_string_equal(complete("io:::", 'n', "b"), "io:::start");
	assert_int_equal(asked, 2);
	/* a folder that can't be made: every time again */
	setenv("XDG_CACHE_HOME", "/proc/nosuch", 1);
	assert_string_equal(complete("io:::", 'n', "b"), "io:::start");
	assert_string_equal(complete("io:::", 'n', "b"), "io:::start");
	assert_int_equal(asked, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_columns, setup),
		cmocka_unit_test_setup(test_levels, setup),
		cmocka_unit_test_setup(test_kept, setup),
		cmocka_unit_test_setup(test_hostile_names, setup),
		cmocka_unit_test_setup(test_no_list, setup),
	};

	int failed = cmocka_run_group_tests_name("complete", tests, NULL, NULL);
	free(offered);
	if (setenv("XDG_CACHE_HOME", dir, 1) || system("rm -r \"${XDG_CACHE_HOME:?}\"") != 0)
		print_message("%s is left\n", dir);
	return failed;
}
