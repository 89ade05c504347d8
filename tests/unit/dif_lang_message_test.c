/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the compiler says of a program that it refuses, to the byte: scripts and their tests compare it. */
#include "dif_lang_fixture.h"

static const struct {
	const char *program, *message;
} all[] = {
	/* operators */
	{ "BEGIN { trace(*5); }", "cannot dereference non-pointer type" },
	{ "BEGIN { x = 5; trace(x->y); }", "operator -> must be applied to a pointer" },
	{ "BEGIN { x = (int *)5; trace(x->y); }", "operator -> cannot be applied to pointer to type \"int\"; "
						  "must be applied to a struct or union pointer" },
	{ "BEGIN { x = 5; trace(x.y); }",
	  "operator . cannot be applied to type \"int\"; must be applied to a struct or union" },
	{ "BEGIN { trace(&pid); }", "cannot take address of dynamic variable" },
	{ "BEGIN { x = execname; x++; }", "operator ++ requires operand of scalar type" },
	{ "BEGIN { x = (trace(1), 3); }", "operator , operands cannot be actions" },
	{ "int a[2]; BEGIN { a[2] = 1; }", "index outside array bounds: 2, max is 2" },
	/* keys */
	{ "BEGIN { a[1] = 1; a[\"x\"] = 2; }",
	  "a[ ] key #1 is incompatible with prototype:\n\tprototype: int\n\t      key: string" },
	{ "BEGIN { @a[1] = count(); @a[\"x\"] = count(); }",
	  "@a[ ] key #1 is incompatible with prototype:\n\tprototype: int\n\t      key: string" },
	{ "BEGIN { @a[1, (void)1] = count(); }",
	  "void expression may not be used as aggregation index: key #2" },
	{ "BEGIN { a[(void)1] = 1; }", "void expression may not be used as associative array index: key #1" },
	{ "BEGIN { @a[1][2] = count(); }", "improper attempt to reference @a as a multi-dimensional array" },
	/* counts of arguments */
	{ "BEGIN { trace(strlen()); }", "strlen( ) prototype mismatch: 0 args passed, 1 expected" },
	{ "BEGIN { trace(substr(\"a\")); }",
	  "substr( ) prototype mismatch: 1 arg passed, at least 2 expected" },
	{ "BEGIN { trace(substr(\"a\", 1, 2, 3)); }",
	  "substr( ) prototype mismatch: 4 args passed, at most 3 expected" },
	{ "BEGIN { printf(); }", "printf( ) prototype mismatch: 0 args passed, at least 1 expected" },
	{ "BEGIN { setopt(\"a\", \"b\", \"c\"); }",
	  "setopt( ) prototype mismatch: 3 args passed, at most 2 expected" },
	{ "BEGIN { @a = quantize(); }",
	  "quantize( ) prototype mismatch: 0 args passed, at least 1 expected" },
	{ "BEGIN { @a = count(); trunc(@a, 1, 2); }",
	  "trunc( ) prototype mismatch: 3 args passed, no more than 2 expected" },
	{ "BEGIN { @a = count(); normalize(@a); }",
	  "normalize( ) prototype mismatch: 1 args passed, 2 expected" },
	/* aggregations */
	{ "BEGIN { @a = count();\n@a = sum(1); }",
	  "aggregation redefined: @a\n\t current: @a = sum( )\n\tprevious: @a = count( ) : line 1" },
	{ "BEGIN { @a[1]; }", "expression has null effect: @a" },
	{ "BEGIN { clear(3); }", "clear( ) argument #1 is incompatible with prototype:\n\tprototype: "
				 "aggregation\n\t argument: int" },
	/* printa() */
	{ "BEGIN { @a = count(); printa(\"%@d\"); }",
	  "printa( ) prototype mismatch: 1 args passed, 2 expected" },
	{ "BEGIN { @a = count(); printa(\"%@d\", @a, 3); }",
	  "printa( ) argument #3 is incompatible with prototype:\n\tprototype: aggregation\n\t argument: "
	  "int" },
	{ "BEGIN { @a = count(); printa(\"%@d %d\", @a); }",
	  "printa( ) prototype mismatch: conversion #2 (%d) is missing a corresponding value argument" },
	{ "BEGIN { @a = count(); printa(\"%*@d\", @a); }",
	  "printa( ) prototype mismatch: conversion #1 (%d) is missing a corresponding \"*\" argument" },
	{ "BEGIN { @a[\"x\"] = count(); printa(\"%d\", @a); }",
	  "printa( ) argument #2 is incompatible with conversion #1 prototype:\n\tconversion: %d\n\t "
	  "prototype: "
	  "char, short, int, long, or long long\n\t  argument: string" },
	{ "BEGIN { @a[1] = count(); @b[1, 2] = count(); printa(\"%@d %@d\", @a, @b); }",
	  "printa( ): @a and @b do not have matching key signatures: @a has 1 key, @b has 2 keys" },
	{ "BEGIN { @a[1] = count(); @b[\"x\"] = count(); printa(\"%@d %@d\", @a, @b); }",
	  "printa( ): @b[ ] key #1 is incompatible with @a:\n        a key #1: int\n        b key #1: "
	  "string" },
	/* declarations */
	{ "struct s { int a : 40; };", "bit-field too big for type: a" },
	{ "int a[5000000000];", "array dimension too big" },
	{ "self this int x;", "only one storage class allowed in a declaration" },
};

static void test_messages(void **state)
{
	unsigned differ = 0;

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(all); i++) {
		struct ot_buf out = { 0 };
		struct lx lx;

		lx_init(&lx);
		if (lx_compile(&lx, all[i].program))
			fail_msg("compiled: %s", all[i].program);
		dif_diag_print(lx.diag, false, &out);
		const char *said = strchr(ot_buf_str(&out), ':');
		if (!said || strcmp(said + 2, all[i].message) != 0) {
			print_error("%s\n  said:     %s\n  expected: %s\n", all[i].program, ot_buf_str(&out),
				    all[i].message);
			differ++;
		}
		ot_buf_deinit(&out);
		lx_deinit(&lx);
	}
	assert_int_equal(differ, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_messages) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
