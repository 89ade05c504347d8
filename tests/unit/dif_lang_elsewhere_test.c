/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What C, bpftrace, SystemTap and another DTrace would have accepted is answered with what D has for it. */
#include "tests/unit/dif_lang_fixture.h"

#define LOOPS "D has no loops"
#define OUTER "variables are declared outside of clauses"

/* Programs that are refused, and how the hint begins; NULL: there is none. */
static const struct {
	const char *text, *hint;
} programs[] = {
	{ "BEGIN { trace(comm); }", "the name of the process is execname" },
	{ "BEGIN { trace(machtimestamp); }", "timestamp counts nanoseconds" },
	{ "BEGIN { trace(this->comm); }", NULL },
	{ "BEGIN { trace(str(arg0)); }", "copyinstr( ) reads a string of the process" },
	{ "BEGIN { @ = hist(arg0); }", "quantize( ) counts by powers of two" },
	{ "BEGIN { trace(strcmp(\"a\", \"b\")); }", "strings are compared by ==" },
	{ "BEGIN { printt(arg0); }", "print( ) prints a value" },
	{ "BEGIN { trace(strchrr(\"a\", 1)); }", "did you mean str" },
	{ "BEGIN { while (x) y = 1; }", LOOPS },
	{ "BEGIN { for (;;) y = 1; }", LOOPS },
	{ "BEGIN { do y = 1; while (x); }", LOOPS },
	{ "BEGIN { goto out; }", LOOPS },
	{ "BEGIN { if (arg0) break; }", LOOPS },
	{ "BEGIN { switch (x) y = 1; }", "if, else and ?: choose" },
	{ "BEGIN { return; }", "a clause runs to its end" },
	{ "probe BEGIN { exit(0); }", "a clause begins with its probe's description" },
	{ "BEGIN { trace(probe); }", "a probe's names are" },
	{ "BEGIN /probe == 1/ {}", "a probe's names are" },
	{ "BEGIN { char c = 1; }", OUTER },
	{ "BEGIN { if (1) int x; }", OUTER },
	{ "BEGIN { uint32_t x = 1; }", OUTER },
	{ "BEGIN { struct s *p; }", OUTER },
	{ "BEGIN { uint32_t; }", NULL },
	{ "BEGIN { x = 1 y = 2; }", "expected \";\"" },
	{ "BEGIN { @a = 5; }", "only count( ), sum( ) and others" },
	{ "BEGIN { @a[pid] += 1; }", "only count( ), sum( ) and others" },
	{ "BEGIN /@a[pid]/ {} END { @a[pid] = count(); }", "no clause reads an aggregation" },
	{ "BEGIN { @a[pid] = count(); } END /@a[pid]/ {}", "no clause reads an aggregation" },
	{ "BEGIN { x = @a; }", "no clause reads an aggregation" },
	{ "BEGIN { @a = count(); } END { if (@a > 5) x = 1; }", "no clause reads an aggregation" },
	{ "BEGIN { @first = count(); } END { x = @frist + 1; }", "did you mean @first?" },
	{ "BEGIN /\"text\"/ {}", NULL },
	{ "BEGIN /pid = 5/ {}", "== compares" },
	{ "BEGIN { pid += 5; }", NULL },
	{ "BEGIN { $x = 5; }", "a variable of one clause is this->x" },
	{ "BEGIN { trace($targt); }", "did you mean $target?" },
	{ "BEGIN { @[stack] = count(); }", "did you mean stack( )?" },
	{ "BEGIN { trace(func); }", "the probe's function is probefunc" },
	{ "BEGIN { trace(pid()); }", "did you mean pid, without ( )?" },
	{ "BEGIN { trace(pid(5)); }", NULL },
	{ "# what it does\nBEGIN {}\n", "a comment stands between" },
	{ "struct in { int skc_family; }; struct sk { long n; struct in in; } *p; BEGIN { "
	  "trace(p->sk_family); }",
	  "did you mean in.skc_family?" },
	{ "struct sk { long n; struct sk *up; } *p; BEGIN { trace(p->sk_family); }", NULL },
	{ "\xff\xfe"
	  "B",
	  "the text is UTF-16" },
	{ "\xfe\xff", "the text is UTF-16" },
	{ "BEGIN { \xff }", NULL },
	{ "#define X 1\nBEGIN {}\n", "-C runs the C preprocessor" },
};

static void hint_names_what_D_has(void **state)
{
	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(programs); i++) {
		const char *want = programs[i].hint ? programs[i].hint : "(none)", *is;
		struct lx lx;

		lx_init(&lx);
		assert_false(lx_compile(&lx, programs[i].text));
		is = lx.diag->hint ? lx.diag->hint : "(none)";
		if (strncmp(is, want, strlen(want)) != 0)
			fail_msg("%s: %s instead of %s", programs[i].text, is, want);
		lx_deinit(&lx);
	}
}

/* A name that D lacks is free: a program may use it for its own variable. */
static void names_from_elsewhere_are_free(void **state)
{
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_true(
	    lx_compile(&lx, "BEGIN { comm = execname; hist = 1; str = \"x\"; trace(comm); trace(hist); }"));
	lx_deinit(&lx);
}

/* The error is at the type's name, as with dtrace, and not at what stands behind it. */
static void declaration_is_named_by_its_type(void **state)
{
	struct lx lx;
	(void)state;

	lx_init(&lx);
	assert_false(lx_compile(&lx, "BEGIN\n{\n\tuint32_t\n\t x = 1;\n}\n"));
	assert_string_equal(lx.diag->message, "syntax error near \"uint32_t\"");
	assert_int_equal(lx.diag->line, 3);
	lx_deinit(&lx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hint_names_what_D_has),
		cmocka_unit_test(names_from_elsewhere_are_free),
		cmocka_unit_test(declaration_is_named_by_its_type),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
