/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every option with a valid and an invalid value: dif/lang/core/options.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "dif/lang/core/options.h"

#define BAD_VALUE   "Invalid value for specified option"
#define BAD_NAME    "Invalid option name"
#define BAD_CONTEXT "Option cannot be used from within a D program"
#define BAD_STATE   "Operation illegal when tracing is active"

struct setting {
	const char *name, *value;
};

static void sets(struct dif_options *o, const char *name, const char *value)
{
	struct ot_err *err = dif_options_set(o, name, value, DIF_OPT_COMMAND_LINE);

	if (err)
		fail_msg("%s=%s: %s", name, value ? value : "(none)", ot_err_message(err));
}

static void refuses(const char *name, const char *value, enum dif_opt_phase phase, const char *text)
{
	struct dif_options o;

	dif_options_init(&o);
	struct ot_err *err = dif_options_set(&o, name, value, phase);
	if (!err)
		fail_msg("%s=%s is taken", name, value ? value : "(none)");
	assert_string_equal(ot_err_message(err), text);
	assert_null(ot_map_gets(&o.set, name));
	ot_err_destroy(err);
	dif_options_deinit(&o);
}

/* The effect of a value: each option's own field. */
static void sizes_and_rates(void **state)
{
	struct dif_options o;

	(void)state;
	dif_options_init(&o);
#define HAS(field, name, value, expected)            \
	do {                                         \
		sets(&o, name, value);               \
		assert_int_equal(o.field, expected); \
	} while (0)
	HAS(bufsize, "bufsize", "64K", 65536);
	HAS(aggsize, "aggsize", "1m", 1 << 20);
	HAS(dynvarsize, "dynvarsize", "1g", 1 << 30);
	HAS(specsize, "specsize", "0x100", 256);
	assert_int_equal(o.injectsize, 256 << 10);
	HAS(injectsize, "injectsize", "64k", 65536);
	HAS(strsize, "strsize", "010", 8);
	HAS(nspec, "nspec", "4", 4);
	HAS(stackframes, "stackframes", "5", 5);
	HAS(ustackframes, "ustackframes", "6", 6);
	HAS(jstackframes, "jstackframes", "7", 7);
	HAS(jstackstrsize, "jstackstrsize", "1k", 1024);
	HAS(stackindent, "stackindent", "0", 0);
	HAS(aggrate_ns, "aggrate", "10hz", 100000000);
	HAS(switchrate_ns, "switchrate", "25", 25);
	HAS(statusrate_ns, "statusrate", "2min", 120000000000);
	HAS(cleanrate_ns, "cleanrate", "3msec", 3000000);
	HAS(aggsortkeypos, "aggsortkeypos", "2", 2);
	HAS(aggsortpos, "aggsortpos", "-1", -1);
	HAS(cpu, "cpu", "3", 3);
	assert_int_equal(o.maxcost, 20);
	HAS(maxcost, "maxcost", "0", 0);
	HAS(maxcost, "maxcost", "35", 35);
	HAS(maxcost, "maxcost", "100%", 100);
	assert_int_equal(o.ttl_ns, 0);
	HAS(ttl_ns, "ttl", "30", 30000000000);
	HAS(ttl_ns, "ttl", "30s", 30000000000);
	HAS(ttl_ns, "ttl", "1h", 3600000000000);
	HAS(ttl_ns, "ttl", "250ms", 250000000);
	assert_int_equal(o.iregs, 16);
	HAS(iregs, "iregs", "4", 4);
	HAS(iregs, "iregs", "16", 16);
	HAS(maxframes, "maxframes", "12", 12);
	HAS(tregs, "tregs", "2", 2);
	HAS(bufpolicy, "bufpolicy", "ring", DIF_BUF_RING);
	HAS(bufpolicy, "bufpolicy", "fill", DIF_BUF_FILL);
	HAS(bufpolicy, "bufpolicy", "switch", DIF_BUF_SWITCH);
	HAS(bufresize_manual, "bufresize", "manual", true);
	HAS(bufresize_manual, "bufresize", "auto", false);
	HAS(encoding_utf8, "encoding", "utf8", true);
	HAS(encoding_utf8, "encoding", "ascii", false);
#undef HAS
	dif_options_deinit(&o);
}

static void flags(void **state)
{
	struct dif_options o;
	const struct {
		const char *name;
		bool *field;
	} all[] = {
		{ "flowindent", &o.flowindent },
		{ "quiet", &o.quiet },
		{ "rawbytes", &o.rawbytes },
		{ "aggsortkey", &o.aggsortkey },
		{ "aggsortrev", &o.aggsortrev },
		{ "agghist", &o.agghist },
		{ "aggpack", &o.aggpack },
		{ "aggzoom", &o.aggzoom },
		{ "aggpercpu", &o.aggpercpu },
		{ "destructive", &o.destructive },
		{ "grabanon", &o.grabanon },
		{ "temporal", &o.temporal },
		{ "argref", &o.argref },
		{ "debug", &o.debug },
		{ "defaultargs", &o.defaultargs },
		{ "droptags", &o.droptags },
		{ "empty", &o.empty },
		{ "errtags", &o.errtags },
		{ "kdefs", &o.kdefs },
		{ "knodefs", &o.knodefs },
		{ "pspec", &o.pspec },
		{ "udefs", &o.udefs },
		{ "unodefs", &o.unodefs },
		{ "verbose", &o.verbose },
		{ "zdefs", &o.zdefs },
		{ "anydefs", &o.anydefs },
		{ "cpp", &o.cpp },
		{ "cpphdrs", &o.cpphdrs },
		{ "noattach", &o.noattach },
		{ "nolibs", &o.nolibs },
		{ "noerror", &o.noerror },
		{ "noresolve", &o.noresolve },
		{ "quietresize", &o.quietresize },
	};
	const char *const on[] = { NULL, "YES", "enable", "Enabled", "true", "on", "set", "1", "0", "-7" };
	const char *const off[] = { "no", "disable", "disabled", "FALSE", "off", "unset", "" };

	(void)state;
	dif_options_init(&o);
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		for (size_t k = 0; k < OT_ARRAY_SIZE(on); k++) {
			*all[i].field = false;
			sets(&o, all[i].name, on[k]);
			assert_true(*all[i].field);
		}
		for (size_t k = 0; k < OT_ARRAY_SIZE(off); k++) {
			*all[i].field = true;
			sets(&o, all[i].name, off[k]);
			assert_false(*all[i].field);
		}
		refuses(all[i].name, "maybe", DIF_OPT_COMMAND_LINE, BAD_VALUE);
	}
	dif_options_deinit(&o);
}

static void texts_and_words(void **state)
{
	static const struct setting all[] = {
		{ "amin", "Stable/Evolving/Common" },
		{ "cpppath", "/bin/cpp" },
		{ "syslibdir", "/lib" },
		{ "version", "1.12.1" },
		{ "version", "1.5.0" },
		{ "core", NULL },
		{ "evaltime", "postinit" },
		{ "late", "static" },
		{ "lazyload", NULL },
		{ "linknommap", NULL },
		{ "sysslice", NULL },
		{ "disasm", "15" },
		{ "debugassert", "mutex" },
		{ "ctfpath", "/boot/vmlinux.ctfa" },
		{ "modpath", "/lib/modules" },
		{ "procfspath", "/proc" },
		{ "useruid", "1000" },
		{ "linkmode", "primary" },
		{ "linktype", "dof" },
		{ "pgmax", "8" },
		{ "promseries", "100" },
		{ "strip", NULL },
		{ "tree", "0xff" },
		{ "ctypes", "f" },
		{ "define", "A=1" },
		{ "dtypes", "f" },
		{ "incdir", "." },
		{ "ldpath", "/bin/ld" },
		{ "libdir", "." },
		{ "objcopypath", "/bin/o" },
		{ "setenv", "A=1" },
		{ "semaphores", "no" },
		{ "stdc", "t" },
		{ "inject", "on" },
		{ "trap", "step" },
		{ "view", "both" },
		{ "waitfor", "sh" },
		{ "hostloss", "ok" },
		{ "fleet", "nats://h1:4222" },
		{ "fleetcreds", "f" },
		{ "fleethosts", "f" },
		{ "fleetkey", "f" },
		{ "fleetmergers", "m*" },
		{ "undef", "A" },
		{ "unsetenv", "A" },
		{ "cppargs", "-P -w" },
		{ "zone", "global" },
	};
	struct dif_options o;

	(void)state;
	dif_options_init(&o);
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		sets(&o, all[i].name, all[i].value);
		assert_string_equal(ot_map_gets(&o.set, all[i].name), all[i].value ? all[i].value : "");
	}
	assert_int_equal(o.amin.name, DIF_STABILITY_STABLE);
	assert_int_equal(o.amin.data, DIF_STABILITY_EVOLVING);
	assert_int_equal(o.amin.class, DIF_CLASS_COMMON);
	assert_string_equal(o.cpppath, "/bin/cpp");
	assert_int_equal(o.version, DIF_VERSION(1, 5, 0));
	assert_string_equal(o.syslibdir, "/lib");
	dif_options_deinit(&o);
}

/* The hint to what dif_options_set() refuses; "": none. */
static void assert_hint(const char *name, const char *value, enum dif_opt_phase phase, const char *want)
{
	struct ot_buf hint = { 0 };
	struct dif_options o;

	dif_options_init(&o);
	struct ot_err *err = dif_options_set(&o, name, value, phase);
	assert_non_null(err);
	assert_int_equal(dif_options_hint(name, err, &hint), *want != 0);
	assert_string_equal(ot_buf_str(&hint), want);
	ot_err_destroy(err);
	ot_buf_deinit(&hint);
	dif_options_deinit(&o);
}

static void hints(void **state)
{
	(void)state;
	assert_hint("bufsiz", "4m", DIF_OPT_COMMAND_LINE, "did you mean bufsize?");
	assert_hint("Quiet", NULL, DIF_OPT_PROGRAM, "did you mean quiet?");
	assert_hint("qiuet", NULL, DIF_OPT_ACTIVE, "did you mean quiet?");
	assert_hint("nonesuch", NULL, DIF_OPT_COMMAND_LINE, "");
	assert_hint("maxcost", "101", DIF_OPT_COMMAND_LINE,
		    "maxcost takes 0 to 100, per cent of vCPU time; 0 is no limit");
	assert_hint("bufpolicy", "rign", DIF_OPT_PROGRAM, "bufpolicy takes ring, fill or switch");
	assert_hint("view", NULL, DIF_OPT_COMMAND_LINE, "view takes one of outside|inside|both");
	assert_hint("cpp", NULL, DIF_OPT_PROGRAM, "it is for the command line: -x cpp");
	assert_hint("bufsize", "1m", DIF_OPT_ACTIVE, "");
	assert_hint("version", "99", DIF_OPT_COMMAND_LINE, "");
}

static void bad_values(void **state)
{
	static const struct setting all[] = {
		{ "bufsize", "1x" },
		{ "strsize", NULL },
		{ "strsize", "0" },
		{ "bufsize", "-1" },
		{ "bufsize", "1mm" },
		{ "bufsize", "m" },
		{ "bufsize", "99999999999t" },
		{ "aggsize", "" },
		{ "dynvarsize", "big" },
		{ "specsize", "1 k" },
		{ "strsize", "1.5k" },
		{ "nspec", "one" },
		{ "stackframes", "-3" },
		{ "maxframes", "-1" },
		{ "iregs", "17" },
		{ "lockmem", "limited" },
		{ "lockmem", NULL },
		{ "ustackframes", "" },
		{ "jstackframes", "x" },
		{ "jstackstrsize", "-1" },
		{ "stackindent", "-2" },
		{ "aggrate", "0hz" },
		{ "aggrate", "1fortnight" },
		{ "switchrate", "hz" },
		{ "cleanrate", "-1hz" },
		{ "aggsortkeypos", "" },
		{ "aggsortpos", "first" },
		{ "cpu", "-1" },
		{ "iregs", "0" },
		{ "tregs", "0" },
		{ "bufpolicy", "Ring" },
		{ "bufpolicy", NULL },
		{ "bufresize", "half" },
		{ "encoding", "latin1" },
		{ "cpppath", NULL },
		{ "syslibdir", NULL },
		{ "evaltime", "init" },
		{ "evaltime", NULL },
		{ "late", "stat" },
		{ "linkmode", "" },
		{ "linktype", "elf|dof" },
		{ "pgmax", "-1" },
		{ "promseries", "many" },
		{ "tree", "all" },
		{ "ctypes", NULL },
		{ "define", "" },
		{ "dtypes", "" },
		{ "incdir", NULL },
		{ "ldpath", NULL },
		{ "libdir", NULL },
		{ "objcopypath", NULL },
		{ "setenv", NULL },
		{ "stdc", "x" },
		{ "undef", NULL },
		{ "unsetenv", "" },
		{ "inject", "maybe" },
		{ "inject", NULL },
		{ "trap", "int3" },
		{ "view", NULL },
		{ "view", "above" },
		{ "trap", NULL },
		{ "cppargs", NULL },
		{ "preallocate", "" },
		{ "ctfpath", NULL },
		{ "modpath", "" },
		{ "procfspath", NULL },
		{ "useruid", "root" },
		{ "disasm", "all" },
		{ "debugassert", NULL },
		{ "maxcost", NULL },
		{ "ttl", NULL },
		{ "ttl", "" },
		{ "ttl", "0" },
		{ "ttl", "0s" },
		{ "ttl", "5hz" },
		{ "ttl", "5 s" },
		{ "ttl", "-1s" },
		{ "ttl", "1w" },
		{ "ttl", "99999999999h" },
		{ "maxcost", "101" },
		{ "maxcost", "-1" },
		{ "maxcost", "5%%" },
		{ "maxcost", "" },
		{ "maxcost", "1.5" },
		{ "maxcost", "5k" },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++)
		refuses(all[i].name, all[i].value, DIF_OPT_COMMAND_LINE, BAD_VALUE);
	refuses("nosuch", "1", DIF_OPT_COMMAND_LINE, BAD_NAME);
	refuses("Quiet", NULL, DIF_OPT_COMMAND_LINE, BAD_NAME);
	refuses("", NULL, DIF_OPT_COMMAND_LINE, BAD_NAME);
}

/* A driver's own are not for programs; only dynamic ones change while tracing. */
static void contexts(void **state)
{
	static const char *const drivers[] = { "cpp",     "cpphdrs", "cpppath",   "ctypes",    "define",
					       "dtypes",  "incdir",  "ldpath",    "libdir",    "noattach",
					       "setenv",  "stdc",    "undef",     "syslibdir", "unsetenv",
					       "ctfpath", "modpath", "procfspath" };
	static const struct setting fixed[] = {
		{ "bufsize", "1m" },    { "strsize", "10" },  { "destructive", NULL },
		{ "temporal", NULL },   { "cleanrate", "1" }, { "bufpolicy", "ring" },
		{ "zdefs", NULL },      { "nspec", "2" },     { "grabanon", NULL },
		{ "core", NULL },       { "lazyload", NULL }, { "strip", NULL },
		{ "linknommap", NULL }, { "sysslice", NULL }, { "zone", NULL },
		{ "maxcost", "10" },
	};
	struct dif_options o;

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(drivers); i++)
		refuses(drivers[i], "a", DIF_OPT_PROGRAM, BAD_CONTEXT);
	for (size_t i = 0; i < OT_ARRAY_SIZE(fixed); i++)
		refuses(fixed[i].name, fixed[i].value, DIF_OPT_ACTIVE, BAD_STATE);
	dif_options_init(&o);
	assert_null(dif_options_set(&o, "quiet", NULL, DIF_OPT_ACTIVE));
	assert_null(dif_options_set(&o, "stackindent", "3", DIF_OPT_ACTIVE));
	assert_null(dif_options_set(&o, "bufsize", "1m", DIF_OPT_PROGRAM));
	assert_true(o.quiet && o.stackindent == 3 && o.bufsize == 1 << 20);
	dif_options_deinit(&o);
}

static void names(void **state)
{
	size_t n = 0;

	(void)state;
	for (const char *name; (name = dif_options_name(n)); n++)
		for (size_t k = 0; k < n; k++)
			assert_string_not_equal(name, dif_options_name(k));
	assert_true(n > 80);
	assert_null(dif_options_name(n + 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes_and_rates), cmocka_unit_test(flags), cmocka_unit_test(texts_and_words),
		cmocka_unit_test(bad_values),      cmocka_unit_test(hints), cmocka_unit_test(contexts),
		cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
