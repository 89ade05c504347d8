/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Numbers, texts and dumps of bytes: consumer/output/print_value.c. */
#include "tests/unit/consumer_test_print.h"

static void value(struct output *o, const void *data, uint32_t size, enum con_width width,
		  const char *expected)
{
	con_print_value(&o->p, data, size, width);
	output_is(o, expected);
}

static void test_integers(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	value(&o, &(int64_t){ -5 }, 8, CON_WIDTH_TRACE, "               -5");
	value(&o, &(int32_t){ -5 }, 4, CON_WIDTH_TRACE, "       -5");
	value(&o, &(uint16_t){ 7 }, 2, CON_WIDTH_KEY, "     7");
	value(&o, &(int8_t){ -1 }, 1, CON_WIDTH_TRACE, " 255");
	o.opts.quiet = true;
	value(&o, &(int64_t){ -5 }, 8, CON_WIDTH_TRACE, "-5");
	value(&o, &(int8_t){ -1 }, 1, CON_WIDTH_TRACE, "255");
	value(&o, &(int8_t){ -1 }, 1, CON_WIDTH_KEY, " 255"); /* keys keep their columns */
	output_deinit(&o);
}

static void test_strings(void **state)
{
	char str[16] = "hello";
	struct output o;

	(void)state;
	output_init(&o);
	value(&o, str, 16, CON_WIDTH_TRACE, "  hello                            ");
	value(&o, str, 16, CON_WIDTH_KEY, "  hello                                             ");
	value(&o, str, 16, CON_WIDTH_PACKED, "            hello");
	value(&o, "abc", 3, CON_WIDTH_TRACE, "  abc                              ");
	o.opts.quiet = true;
	value(&o, str, 16, CON_WIDTH_TRACE, "hello");
	output_deinit(&o);
}

#define DUMP_HEAD "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"

static void test_dumps(void **state)
{
	uint8_t bytes[18] = { 'a', 0, 'b', 0xff };
	struct output o;

	(void)state;
	output_init(&o);
	value(&o, bytes, 18, CON_WIDTH_TRACE,
	      DUMP_HEAD "         0: 61 00 62 ff 00 00 00 00 00 00 00 00 00 00 00 00  a.b.............\n"
			"        10: 00 00                                            ..\n");
	value(&o, "\0\0\0", 3, CON_WIDTH_TRACE,
	      DUMP_HEAD "         0: 00 00 00                                         ...\n");
	o.opts.rawbytes = true;
	value(&o, "ab", 3, CON_WIDTH_TRACE,
	      DUMP_HEAD "         0: 61 62 00                                         ab.\n");
	value(&o, "", 0, CON_WIDTH_TRACE, "");
	output_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_dumps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
