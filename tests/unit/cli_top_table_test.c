/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view's texts and tables: cli/top/text.c, table.c. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "cli/top/table.h"

static void escaped_is(const char *bytes, size_t n, const char *expected)
{
	struct ot_buf out;

	ot_buf_init(&out);
	cli_top_escape(&out, bytes, n);
	assert_string_equal(ot_buf_str(&out), expected);
	ot_buf_deinit(&out);
}

/* Controls, bidi controls, wide and combining characters, invalid and cut off UTF-8: bytes in hexadecimal. */
static void test_escape(void **state)
{
	(void)state;
	escaped_is("nginx: a b", 10, "nginx: a b");
	escaped_is("\x1b[2J\a\n\0z\x7f", 9, "\\x1b[2J\\x07\\x0a\\x00z\\x7f");
	escaped_is("\xc3\xbc\xe6\xbc\xa2", 5, "\xc3\xbc\\xe6\\xbc\\xa2");
	escaped_is("e\xcc\x81\xe2\x80\xae\xc2\x9b", 8, "e\\xcc\\x81\\xe2\\x80\\xae\\xc2\\x9b");
	escaped_is("\xff\xc0\xaf\xe6\xbc", 5, "\\xff\\xc0\\xaf\\xe6\\xbc");
	assert_non_null(setlocale(LC_CTYPE, "C"));
	escaped_is("\xc3\xbc", 2, "\\xc3\\xbc");
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
}

static void unescaped_is(const char *text, const char *bytes, size_t n)
{
	struct ot_buf out;

	ot_buf_init(&out);
	cli_top_unescape(&out, text, strlen(text));
	assert_int_equal(out.len, n);
	assert_memory_equal(ot_buf_str(&out), bytes, n);
	ot_buf_deinit(&out);
}

/* What %S writes; and what it never writes stays as it is. */
static void test_unescape(void **state)
{
	(void)state;
	unescaped_is("sh\\0", "sh", 2);
	unescaped_is("a b\\n\\t\\\\\\\"\\0", "a b\n\t\\\"", 7);
	unescaped_is("\\303\\274\\033[0m\\0", "\xc3\xbc\x1b[0m", 6);
	unescaped_is("\\", "\\", 1);
	unescaped_is("\\9\\12", "\\9\\12", 5);
	unescaped_is("", "", 0);
}

static void fits(const char *text, unsigned width, bool right, const char *expected)
{
	struct ot_buf out;

	ot_buf_init(&out);
	cli_top_fit(&out, text, width, right);
	assert_string_equal(ot_buf_str(&out), expected);
	ot_buf_deinit(&out);
}

static void test_fit(void **state)
{
	(void)state;
	fits("abc", 5, false, "abc  ");
	fits("abc", 5, true, "  abc");
	fits("abcde", 5, true, "abcde");
	fits("abcdef", 5, false, "abcd+");
	fits("\xc3\xbc\xc3\xbc\xc3\xbc", 2, false, "\xc3\xbc+");
	fits("\xc3\xbc", 3, true, "  \xc3\xbc");
	fits("abc", 1, false, "+");
	fits("abc", 0, false, "");
	fits("", 2, false, "  ");
}

static void number_is(double value, enum cli_top_form form, const char *expected)
{
	char text[CLI_TOP_NUMBER];

	cli_top_number(value, form, text);
	assert_string_equal(text, expected);
}

static void test_numbers(void **state)
{
	(void)state;
	number_is(NAN, CLI_TOP_RATE, "-");
	number_is(INFINITY, CLI_TOP_PERCENT, "-");
	number_is(4294967295., CLI_TOP_INTEGER, "4294967295");
	number_is(0, CLI_TOP_PERCENT, "0.0");
	number_is(9999.9, CLI_TOP_PERCENT, "9999.9");
	number_is(123456, CLI_TOP_PERCENT, "123456");
	number_is(0.4, CLI_TOP_RATE, "0");
	number_is(999.4, CLI_TOP_RATE, "999");
	number_is(999.6, CLI_TOP_RATE, "1.0k");
	number_is(12345, CLI_TOP_RATE, "12.3k");
	number_is(123456, CLI_TOP_RATE, "123k");
	number_is(999600, CLI_TOP_RATE, "1.0M");
	number_is(4.5e18, CLI_TOP_RATE, "4.5E");
	number_is(1.8e22, CLI_TOP_RATE, "18000E");
}

/* --- tables ---------------------------------------------------------------------------------------------- */

static const struct cli_top_column columns[] = {
	{ "N", CLI_TOP_INTEGER, 4, 0 },
	{ "%CPU", CLI_TOP_PERCENT, 6, 1 },
};
static const struct cli_top_shape shape = { "NAME", columns, 2, false };

static void add(struct cli_top_table *t, uint64_t id, const char *name, double n, double cpu)
{
	struct cli_top_row *row;

	assert_null(cli_top_table_add(t, id, name, strlen(name), &row));
	row->values[0] = n;
	row->values[1] = cpu;
}

static void order_is(struct cli_top_table *t, unsigned column, bool reversed, const char *ids)
{
	char found[8] = "";

	cli_top_table_sort(t, column, reversed);
	for (size_t i = 0; i < t->count; i++)
		found[i] = (char)('0' + t->rows[i].id);
	assert_string_equal(found, ids);
}

static void lines_are(const struct cli_top_table *t, unsigned sorted, unsigned width, const char *titles,
		      const char *first)
{
	struct ot_buf line;

	ot_buf_init(&line);
	cli_top_table_titles(t, sorted, width, &line);
	assert_string_equal(ot_buf_str(&line), titles);
	ot_buf_clear(&line);
	cli_top_table_line(t, 0, width, &line);
	assert_string_equal(ot_buf_str(&line), first);
	ot_buf_deinit(&line);
}

static void test_table(void **state)
{
	struct cli_top_table t = { 0 };

	(void)state;
	cli_top_table_clear(&t, &shape);
	order_is(&t, 2, false, "");
	add(&t, 1, "b", 7, 5);
	add(&t, 2, "a\n", 7, NAN);
	add(&t, 3, "c", 1, 50);
	add(&t, 4, "b", 9, NAN);
	/* what is not known is last, both ways; what is equal goes by name, then by id */
	order_is(&t, 2, false, "3124");
	order_is(&t, 2, true, "1324");
	order_is(&t, 1, false, "4213");
	order_is(&t, 1, true, "3214");
	order_is(&t, 0, true, "3142");
	order_is(&t, 0, false, "2143");
	assert_int_equal(cli_top_table_find(&t, 4), 2);
	assert_int_equal(cli_top_table_find(&t, 9), t.count);
	lines_are(&t, 0, 24, "NAME*           N   %CPU", "a\\x0a           7      -");
	lines_are(&t, 2, 20, "NAME        N  *%CPU", "a\\x0a       7      -");
	/* narrower than the columns: what is at the left stays */
	lines_are(&t, 2, 10, "NAME     +", "a\\x0a    +");
	assert_int_equal(cli_top_table_width(&t), 8 + 5 + 7);
	add(&t, 5, "a longer name", 1, 1);
	assert_int_equal(cli_top_table_width(&t), 13 + 5 + 7);
	cli_top_table_deinit(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_escape),  cmocka_unit_test(test_unescape), cmocka_unit_test(test_fit),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_table),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
