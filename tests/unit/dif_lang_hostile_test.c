/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Huge, deep and multiplying programs: an error or a result, on a bounded stack. */
#include <stdio.h>

#include "tests/unit/dif_lang_fixture.h"

static void repeat(struct ot_buf *b, const char *s, unsigned n)
{
	while (n--)
		ot_buf_puts(b, s);
}

/* Compile head, n times a, mid, n times z, tail. */
static void check(const char *head, const char *a, const char *mid, const char *z, const char *tail,
		  unsigned n, bool ok)
{
	struct ot_buf text = { 0 };
	struct lx lx;

	ot_buf_puts(&text, head);
	repeat(&text, a, n);
	ot_buf_puts(&text, mid);
	repeat(&text, z, n);
	ot_buf_puts(&text, tail);
	lx_init(&lx);
	if (lx_compile_n(&lx, ot_buf_str(&text), text.len) != ok)
		fail_msg("%s %s …: %s", head, a, ok ? lx.diag->message : "compiled");
	lx_deinit(&lx);
	ot_buf_deinit(&text);
}

static void test_deep(void **state)
{
	(void)state;
	check("BEGIN { x = ", "(", "1", ")", "; }", 1000000, false);
	check("BEGIN { x = ", "-", "arg0", "", "; }", 1000000, false);
	check("BEGIN { x = arg0", "+arg0", "", "", "; }", 1000000, false);
	check("BEGIN { x = ", "arg0 ? 1 : ", "2", "", "; }", 300000, false);
	check("BEGIN { ", "if (1) {", "", "}", " }", 100000, false);
	check("BEGIN { if (0) {} ", "else if (1) {}", "", "", " }", 100000, false);
	check("BEGIN { x = curthread", "->parent", "", "", "; }", 1000000, false);
	check("int ", "*", "x", "", ";", 1000000, false);
	check("int ", "(", "x", ")", ";", 1000000, false);
	check("int x", "[1]", "", "", ";", 1000000, false);
	check("", "struct {", "", "", "", 100000, false);
	check("BEGIN { x = ", "(", "1", ")", "; }", 200, true);
	check("BEGIN { x = 1", "+1", "", "", "; }", 500, true);
}

/* As wide as an engine takes: 16384 actions. */
static void test_wide(void **state)
{
	(void)state;
	check("", "BEGIN { x = 1; }\n", "", "", "", 10000, true);
	check("BEGIN { ", "x = 1; ", "", "", "}", 10000, true);
	check("", "BEGIN,", "BEGIN {}", "", "", 10000, true);
	check("BEGIN { x = \"", "aaaaaaaaaaaaaaaa", "", "", "\"; }", 4000, true);
	check("BEGIN { x = \"", "aaaaaaaaaaaaaaaa", "", "", "\"; }", 4096,
	      false);                                              /* more than 64 KiB with its NULs */
	check("", "BEGIN { x = 1; }\n", "", "", "", 20000, false); /* more actions than an engine takes */
	check("int v[5000]; BEGIN { v[0] = 1; }", "", "", "", "", 0, false);
	check("BEGIN { x = \"", "aaaaaaaaaaaaaaaa", "\" == \"b\"", "", "; }", 4096,
	      false); /* beyond 16-bit offsets */
	check("BEGIN { a[1", ",1", "", "", "] = 1; }", 7, true);
	check("BEGIN { a[1", ",1", "", "", "] = 1; }", 8, false);
	check("/*", "x", "*/ BEGIN {}", "", "", 4000000, true);
	check("", "\1\377", "", "", "", 1000000, false);
}

/* Each inline uses the one before it twice. */
static void test_multiplying(void **state)
{
	struct ot_buf text = { 0 };
	struct lx lx;
	(void)state;

	ot_buf_puts(&text, "inline int i0 = arg0;\n");
	for (int i = 1; i < 38; i++)
		ot_buf_printf(&text, "inline int i%d = i%d + i%d;\n", i, i - 1, i - 1);
	ot_buf_puts(&text, "BEGIN { x = i37; }");
	lx_init(&lx);
	assert_false(lx_compile(&lx, ot_buf_str(&text)));
	lx_deinit(&lx);
	ot_buf_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_multiplying),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
