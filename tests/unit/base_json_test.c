/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/json.c: punctuation in both styles, escapes, numbers, and misuse that must not pass for a document. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

struct written {
	struct ot_json j;
	char *text;
	size_t len;
};

static struct ot_json *begin(struct written *w)
{
	FILE *fp = open_memstream(&w->text, &w->len);

	assert_non_null(fp);
	ot_json_init(&w->j, fp);
	return &w->j;
}

/* Ends the document; what was written must be @expected. */
static void is(struct written *w, const char *expected)
{
	assert_null(ot_json_finish(&w->j));
	fclose(w->j.fp);
	assert_string_equal(w->text, expected);
	free(w->text);
}

/* The document is refused for the reason @why, and without the newline that would end it. */
static void refused(struct written *w, const char *why)
{
	struct ot_err *err = ot_json_finish(&w->j);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_INTERNAL);
	assert_non_null(strstr(ot_err_message(err), why));
	ot_err_destroy(err);
	fclose(w->j.fp);
	assert_null(strchr(w->text, '\n'));
	free(w->text);
}

static void test_styles(void **state)
{
	struct written w;
	struct ot_json *j = begin(&w);

	(void)state;
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "list");
	ot_json_array(j, OT_JSON_LINES);
	for (int i = 0; i < 2; i++) {
		ot_json_object(j, OT_JSON_INLINE);
		ot_json_key(j, "n");
		ot_json_int(j, i);
		ot_json_key(j, "in");
		ot_json_array(j, OT_JSON_INLINE);
		ot_json_bool(j, true);
		ot_json_null(j);
		ot_json_end(j);
		ot_json_end(j);
	}
	ot_json_end(j);
	ot_json_key(j, "none");
	ot_json_array(j, OT_JSON_LINES);
	ot_json_end(j);
	ot_json_key(j, "empty");
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_end(j);
	ot_json_end(j);
	is(&w, "{\"list\": [\n  {\"n\": 0, \"in\": [true, null]},\n  {\"n\": 1, \"in\": [true, null]}\n], "
	       "\"none\": [], \"empty\": {}}\n");
}

/* Documents follow one another on one stream, a line each. */
static void test_documents(void **state)
{
	struct written w;
	struct ot_json *j = begin(&w);

	(void)state;
	for (int i = 1; i < 3; i++) {
		ot_json_array(j, OT_JSON_INLINE);
		ot_json_int(j, i);
		ot_json_end(j);
		if (i == 1)
			assert_null(ot_json_finish(j));
	}
	is(&w, "[1]\n[2]\n");
}

static void test_strings(void **state)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{ "", "\"\"\n" },
		{ "a\"b\\c\t\x7f", "\"a\\\"b\\\\c\\u0009\\u007f\"\n" },
		{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7\"\n" },
		{ "\xff", "\"\\ufffd\"\n" },
		{ "\xc3", "\"\\ufffd\"\n" }, /* cut short */
		{ "\xe2\x82", "\"\\ufffd\\ufffd\"\n" },
		{ "\xe2\x82(", "\"\\ufffd\\ufffd(\"\n" },
		{ "\xc0\xaf", "\"\\ufffd\\ufffd\"\n" }, /* overlong */
		{ "\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"\n" },
		{ "\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"\n" },            /* a surrogate */
		{ "\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"\n" }, /* beyond Unicode */
		{ "\xf5x", "\"\\ufffdx\"\n" },
	};

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		struct written w;

		ot_json_string(begin(&w), cases[i].from);
		is(&w, cases[i].to);
	}
}

/* A length instead of a NUL: a sequence that the length cuts is not completed by what lies behind it. */
static void test_texts(void **state)
{
	struct written w;
	struct ot_json *j = begin(&w);

	(void)state;
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "a\nb");
	ot_json_text(j, "x\0y\xc3\xa9", 4);
	ot_json_end(j);
	is(&w, "{\"a\\u000ab\": \"x\\u0000y\\ufffd\"}\n");
}

static void test_numbers(void **state)
{
	struct written w;
	struct ot_json *j = begin(&w);

	(void)state;
	ot_json_array(j, OT_JSON_INLINE);
	ot_json_int(j, INT64_MIN);
	ot_json_uint(j, UINT64_MAX);
	ot_json_fixed(j, 1.0625, 3);
	ot_json_fixed(j, -0.5, 0);
	ot_json_fixed(j, 0, 3);
	ot_json_fixed(j, NAN, 3);
	ot_json_fixed(j, -INFINITY, 3);
	ot_json_end(j);
	is(&w, "[-9223372036854775808, 18446744073709551615, 1.062, -0, 0.000, null, null]\n");
}

static void test_misuse(void **state)
{
	struct written w;
	struct ot_json *j;

	(void)state;
	begin(&w);
	refused(&w, "not complete");

	ot_json_array(begin(&w), OT_JSON_INLINE);
	refused(&w, "not complete");

	j = begin(&w);
	ot_json_int(j, 1);
	ot_json_int(j, 2);
	refused(&w, "a second value");

	j = begin(&w);
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_int(j, 1);
	ot_json_end(j);
	refused(&w, "a member without a key");

	j = begin(&w);
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "k");
	ot_json_end(j);
	refused(&w, "a key without a value");

	j = begin(&w);
	ot_json_object(j, OT_JSON_INLINE);
	ot_json_key(j, "k");
	ot_json_key(j, "l");
	refused(&w, "a key where none may stand");

	j = begin(&w);
	ot_json_array(j, OT_JSON_INLINE);
	ot_json_key(j, "k");
	refused(&w, "a key where none may stand");

	ot_json_end(begin(&w));
	refused(&w, "an end without a beginning");
}

static void test_depth(void **state)
{
	struct written w;
	struct ot_json *j = begin(&w);

	(void)state;
	for (int i = 0; i < OT_JSON_DEPTH; i++)
		ot_json_array(j, OT_JSON_INLINE);
	for (int i = 0; i < OT_JSON_DEPTH; i++)
		ot_json_end(j);
	assert_null(ot_json_finish(j));
	fclose(j->fp);
	free(w.text);

	j = begin(&w);
	for (int i = 0; i <= OT_JSON_DEPTH; i++)
		ot_json_array(j, OT_JSON_INLINE);
	refused(&w, "nested too deeply");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles),  cmocka_unit_test(test_documents),
		cmocka_unit_test(test_strings), cmocka_unit_test(test_texts),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_misuse),
		cmocka_unit_test(test_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
