/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: cli/options.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/options.h"

static int parse(struct cli_invocation *inv, const char *const *words)
{
	static char copies[32][64];
	char *argv[33];
	int argc = 0;

	for (; words[argc]; argc++) {
		strcpy(copies[argc], words[argc]);
		argv[argc] = copies[argc];
	}
	argv[argc] = NULL;
	return cli_options_parse(inv, argc, argv);
}

#define PARSE(inv, ...) parse(inv, (const char *const[]){ "outsight", __VA_ARGS__, NULL })

static void test_order(void **state)
{
	struct cli_invocation inv;

	(void)state;
	assert_int_equal(PARSE(&inv, "one", "-n", "BEGIN", "two", "-s", "x.d", "-P", "fbt", "-g", "a", "-q",
			       "-gb", "-w", "--", "-n", "three"),
			 CLI_GO_ON);
	assert_int_equal(inv.nprograms, 3);
	assert_string_equal(inv.programs[0].arg, "BEGIN");
	assert_int_equal(inv.programs[0].spec, DIF_SPEC_NAME);
	assert_true(inv.programs[1].is_script);
	assert_int_equal(inv.programs[2].spec, DIF_SPEC_PROVIDER);
	assert_int_equal(inv.args.count, 5);
	assert_string_equal(inv.args.items[0], "outsight");
	assert_string_equal(inv.args.items[1], "one");
	assert_string_equal(inv.args.items[2], "two");
	assert_string_equal(inv.args.items[3], "-n");
	assert_string_equal(inv.args.items[4], "three");
	assert_null(inv.args.items[5]);
	assert_int_equal(inv.guests.count, 2);
	assert_string_equal(inv.guests.items[1], "b");
	assert_true(inv.opts.quiet);
	assert_true(inv.opts.destructive);
	cli_options_deinit(&inv);
}

static void test_options(void **state)
{
	struct cli_invocation inv;

	(void)state;
	assert_int_equal(PARSE(&inv, "-b", "2m", "-x", "switchrate=10hz", "-xflowindent", "-o", "f", "-L",
			       "d", "-D", "A=1", "-U", "B", "-x", "define=C", "-e", "-v", "--vmlinux", "v",
			       "--no-cache", "-64"),
			 CLI_GO_ON);
	assert_int_equal(inv.opts.bufsize, 2 << 20);
	assert_int_equal(inv.opts.switchrate_ns, 100000000);
	assert_true(inv.opts.flowindent);
	assert_string_equal(inv.out, "f");
	assert_string_equal(inv.libdirs.items[0], "d");
	assert_int_equal(inv.cpp.count, 3);
	assert_string_equal(inv.cpp.items[0], "-DA=1");
	assert_string_equal(inv.cpp.items[1], "-UB");
	assert_string_equal(inv.cpp.items[2], "-DC");
	assert_true(inv.compile_only && inv.verbose && inv.no_cache);
	assert_string_equal(inv.vmlinux, "v");
	cli_options_deinit(&inv);
}

static void test_list_allows_no_match(void **state)
{
	struct cli_invocation inv;

	(void)state;
	assert_int_equal(PARSE(&inv, "-l", "-n", "x"), CLI_GO_ON);
	assert_int_equal(inv.mode, CLI_MODE_LIST);
	assert_true(inv.opts.zdefs);
	cli_options_deinit(&inv);
}

static void status_is(int status, const char *const *words)
{
	struct cli_invocation inv;

	assert_int_equal(parse(&inv, words), status);
	cli_options_deinit(&inv);
}

#define STATUS(status, ...) status_is(status, (const char *const[]){ "outsight", __VA_ARGS__ NULL })

static void test_statuses(void **state)
{
	(void)state;
	STATUS(2, );
	STATUS(2, "-k", );
	STATUS(2, "-n", );
	STATUS(2, "-l", "-V", );
	STATUS(2, "-3", "1", );
	STATUS(1, "-32", );
	STATUS(1, "-G", );
	STATUS(1, "-h", "-s", "x", );
	STATUS(1, "-a", );
	STATUS(1, "-x", "nosuch", );
	STATUS(1, "-b", "many", );
	STATUS(1, "-X", "q", );
	STATUS(0, "-V", );
	STATUS(0, "--version", );
	STATUS(0, "--help", );
	STATUS(2, "--nosuch", );
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_options),
		cmocka_unit_test(test_list_allows_no_match),
		cmocka_unit_test(test_statuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
