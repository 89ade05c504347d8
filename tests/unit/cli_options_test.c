/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line: cli/options.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
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
			       "--no-cache", "--plan", "-64"),
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
	assert_true(inv.compile_only && inv.verbose && inv.no_cache && inv.plan);
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
	STATUS(1, "-B", );
	STATUS(2, "-A", "-l", );
	STATUS(1, "-x", "nosuch", );
	STATUS(1, "-b", "many", );
	STATUS(1, "-X", "q", );
	STATUS(0, "-V", );
	STATUS(0, "--version", );
	STATUS(0, "--help", );
	STATUS(2, "--nosuch", );
}

static void test_environment(void **state)
{
	struct cli_invocation inv;

	(void)state;
	setenv("DTRACE_OPT_BUFSIZE", "8m", 1);
	setenv("DTRACE_OPT_AGGSIZE", "1m", 1);
	setenv("DTRACE_OPT_QUIET", "", 1);
	setenv("DTRACE_OPT_CPPARGS", "  -P -DX=1 ", 1);
	assert_int_equal(PARSE(&inv, "-n", "BEGIN", "-x", "aggsize=2m"), CLI_GO_ON);
	assert_int_equal(inv.opts.bufsize, 8 << 20);
	assert_int_equal(inv.opts.aggsize, 2 << 20);
	assert_true(inv.opts.quiet);
	assert_int_equal(inv.cpp.count, 2);
	assert_string_equal(inv.cpp.items[0], "-P");
	assert_string_equal(inv.cpp.items[1], "-DX=1");
	cli_options_deinit(&inv);
	setenv("DTRACE_OPT_BUFSIZE", "many", 1);
	STATUS(1, "-n", "BEGIN", );
	STATUS(0, "-V", );
	unsetenv("DTRACE_OPT_BUFSIZE");
	unsetenv("DTRACE_OPT_AGGSIZE");
	unsetenv("DTRACE_OPT_QUIET");
	unsetenv("DTRACE_OPT_CPPARGS");
}

/* Every letter and word that the parser knows, and what it leaves behind. */
static void test_letters(void **state)
{
	struct cli_invocation inv;

	(void)state;
	assert_int_equal(PARSE(&inv, "-64", "-a", "-A", "-C", "-F", "-H", "-Ii", "-ffunc", "-m", "mod", "-i",
			       "1", "-P", "prov", "-p", "1", "-c", "true", "-S", "-w", "-W", "sh", "-Z",
			       "-Xs", "--symbols", "k", "--save-dof", "d", "--dof", "e"),
			 CLI_GO_ON);
	assert_true(inv.opts.grabanon && inv.from_boot && inv.opts.cpp && inv.opts.flowindent);
	assert_true(inv.opts.verbose && inv.opts.destructive && inv.opts.zdefs);
	assert_int_equal(inv.cpp.count, 3);
	assert_string_equal(inv.cpp.items[0], "-H");
	assert_string_equal(inv.cpp.items[1], "-Ii");
	assert_string_equal(inv.cpp.items[2], "-traditional-cpp");
	assert_int_equal(inv.nprograms, 4);
	assert_int_equal(inv.programs[0].spec, DIF_SPEC_FUNCTION);
	assert_int_equal(inv.programs[1].spec, DIF_SPEC_MODULE);
	assert_int_equal(inv.programs[2].spec, DIF_SPEC_NAME);
	assert_string_equal(inv.pids.items[0], "1");
	assert_string_equal(inv.commands.items[0], "true");
	assert_string_equal(ot_map_gets(&inv.opts.set, "waitfor"), "sh");
	assert_string_equal(inv.symbols, "k");
	assert_string_equal(inv.save_dof, "d");
	assert_string_equal(inv.load_dof, "e");
	cli_options_deinit(&inv);
	assert_int_equal(PARSE(&inv, "-h", "-s", "x.d"), CLI_GO_ON);
	assert_int_equal(inv.mode, CLI_MODE_HEADER);
	assert_true(inv.opts.zdefs && inv.programs[0].is_script);
	cli_options_deinit(&inv);
	assert_int_equal(PARSE(&inv, "--dump-symbols"), CLI_GO_ON);
	assert_int_equal(inv.mode, CLI_MODE_DUMP_SYMBOLS);
	cli_options_deinit(&inv);
	assert_int_equal(PARSE(&inv, "-l", "--sysroot", "/"), CLI_GO_ON);
	assert_string_equal(inv.sysroot, "/");
	cli_options_deinit(&inv);
	assert_int_equal(PARSE(&inv, "--dump-maps", "12"), CLI_GO_ON);
	assert_int_equal(inv.mode, CLI_MODE_DUMP_MAPS);
	assert_int_equal(inv.maps_pid, 12);
	cli_options_deinit(&inv);
}

/* What lacks its argument, or has a bad one. */
static void test_refused_letters(void **state)
{
	static const char *const lonely[] = { "-b", "-c",        "-D",        "-f",         "-g",    "-i",
					      "-I", "-L",        "-m",        "-n",         "-o",    "-p",
					      "-P", "-s",        "-U",        "-x",         "-X",    "-3",
					      "-6", "--vmlinux", "--symbols", "--save-dof", "--dof", "-W" };
	static const char *const modes[] = { "-A", "-G", "-h", "-l", "-V" };

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(lonely); i++)
		STATUS(2, lonely[i], );
	for (size_t i = 0; i < OT_ARRAY_SIZE(modes); i++)
		for (size_t k = 0; k < OT_ARRAY_SIZE(modes); k++)
			if (i != k)
				STATUS(2, modes[i], modes[k], );
	STATUS(2, "-65", );
	STATUS(1, "-x", "quiet=perhaps", );
	STATUS(1, "-x", "cpppath", );
	STATUS(2, "--no-cache=1", );
	STATUS(2, "--plan=1", );
	STATUS(2, "--dump-symbols=1", );
	STATUS(2, "-l", "--sysroot", "/dev/null", );
	STATUS(2, "-l", "--sysroot", "/nosuch", );
	STATUS(2, "--dump-maps", "0", );
	STATUS(2, "--dump-maps", "1x", );
	STATUS(2, "--dump-maps", );
	STATUS(2, "--help=1", );
	STATUS(2, "--version=1", );
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_environment),     cmocka_unit_test(test_letters),
		cmocka_unit_test(test_refused_letters), cmocka_unit_test(test_order),
		cmocka_unit_test(test_options),         cmocka_unit_test(test_list_allows_no_match),
		cmocka_unit_test(test_statuses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
