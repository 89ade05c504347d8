/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms, bars and packed lines against text worked out by hand: consumer/output/print_quantize.c. */
#include <limits.h>

#include "consumer/output/print_quantize.h"
#include "tests/unit/consumer_test_print.h"

#define HEAD "\n           value  ------------- Distribution ------------- count    \n"

static struct con_aggval quantize(uint64_t *words)
{
	return (struct con_aggval){ DIF_AGG_quantize, 0, words, 1 };
}

static void test_quantize(void **state)
{
	uint64_t words[127] = { 0 };
	struct con_aggval val = quantize(words);
	struct output o;

	(void)state;
	output_init(&o);
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "              -1 |                                         0        \n"
			   "               0 |                                         0        \n"
			   "               1 |                                         0        \n");
	words[64] = 3; /* value 1 */
	words[66] = 1; /* value 4 */
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "               0 |                                         0        \n"
			   "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n"
			   "               2 |                                         0        \n"
			   "               4 |@@@@@@@@@@                               1        \n"
			   "               8 |                                         0        \n");
	val.normal = 3;
	o.opts.aggzoom = true;
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "               0 |                                         0        \n"
			   "               1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   1        \n"
			   "               2 |                                         0        \n"
			   "               4 |@@@@@@@@@@@@@                            0        \n"
			   "               8 |                                         0        \n");
	output_deinit(&o);
}

static void test_negative_counts(void **state)
{
	uint64_t words[127] = { 0 };
	struct con_aggval val = quantize(words);
	struct output o;

	(void)state;
	output_init(&o);
	words[63] = (uint64_t)-2;
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "              -1                                         | 0        \n"
			   "               0 @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -2       \n"
			   "               1                                         | 0        \n");
	words[64] = 2;
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "              -1                     |                     0        \n"
			   "               0           @@@@@@@@@@|                     -2       \n"
			   "               1                     |@@@@@@@@@@           2        \n"
			   "               2                     |                     0        \n");
	output_deinit(&o);
}

/* No empty row beyond the first and last bucket. */
static void test_extreme_buckets(void **state)
{
	uint64_t words[127] = { [0] = 1, [126] = 1 };
	struct con_aggval val = quantize(words);
	struct output o;

	(void)state;
	output_init(&o);
	con_print_histogram(&o.p, &val);
	fflush(o.p.fp);
	assert_non_null(
	    strstr(o.text, "count    \n-4611686018427387904 |@@@@@@@@@@@@@@@@@@@@                     1"));
	assert_non_null(
	    strstr(o.text, "\n4611686018427387904 |@@@@@@@@@@@@@@@@@@@@                     1        \n"));
	output_deinit(&o);
}

static void test_lquantize(void **state)
{
	uint64_t arg = 10ull << 48 | 3ull << 32 | 0; /* base 0, 3 levels of 10 */
	uint64_t words[6] = { arg };
	struct con_aggval val = { DIF_AGG_lquantize, arg, words, 1 };
	struct output o;

	(void)state;
	output_init(&o);
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "             < 0 |                                         0        \n"
			   "               0 |                                         0        \n"
			   "              10 |                                         0        \n");
	words[1] = 1; /* below */
	words[5] = 1; /* above */
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "             < 0 |@@@@@@@@@@@@@@@@@@@@                     1        \n"
			   "               0 |                                         0        \n"
			   "              10 |                                         0        \n"
			   "              20 |                                         0        \n"
			   "           >= 30 |@@@@@@@@@@@@@@@@@@@@                     1        \n");
	output_deinit(&o);
}

static void test_llquantize(void **state)
{
	/* factor 10, orders 0 to 1, 10 steps: < 1, 1 … 9, 10 20 … 90, >= 100 */
	uint64_t arg = 10ull << 48 | 0ull << 32 | 1ull << 16 | 10;
	uint64_t words[21] = { arg };
	struct con_aggval val = { DIF_AGG_llquantize, arg, words, 1 };
	struct output o;

	(void)state;
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, arg), 21);
	output_init(&o);
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "             < 1 |                                         0        \n"
			   "               1 |                                         0        \n");
	words[1 + 10] = 1; /* 10 */
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "               9 |                                         0        \n"
			   "              10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n"
			   "              20 |                                         0        \n");
	words[1 + 10] = 0;
	words[1 + 19] = 1;
	con_print_histogram(&o.p, &val);
	output_is(&o, HEAD "              90 |                                         0        \n"
			   "          >= 100 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        \n");
	output_deinit(&o);
}

static void test_utf8_bar(void **state)
{
	uint64_t words[127] = { [64] = 1, [65] = 15 };
	struct con_aggval val = quantize(words);
	struct output o;

	(void)state;
	output_init(&o);
	o.opts.encoding_set = o.opts.encoding_utf8 = true;
	con_print_histogram(&o.p, &val);
	/* 1 of 16 in 40 columns: 2.5 of them, so two full blocks and a half */
	fflush(o.p.fp);
	assert_non_null(strstr(o.text, "               1 |\xe2\x96\x88\xe2\x96\x88\xe2\x96\x8c"
				       "                                      1        \n"));
	output_deinit(&o);
}

static void test_packed(void **state)
{
	uint64_t words[127] = { [64] = 7, [65] = 1 };
	struct con_aggval val = quantize(words);
	struct con_scale scale = { .min_bucket = UINT_MAX };
	struct output o;

	(void)state;
	output_init(&o);
	o.opts.encoding_set = true; /* ASCII */
	con_scale_add(&o.p, &scale, &val);
	con_print_packed_heading(&o.p, 17, DIF_AGG_quantize, &scale);
	con_print_packed(&o.p, &val, &scale);
	output_is(&o, "\n              key  min .----. max  | count\n    0 : X_ : 4    | 8\n");
	o.opts.encoding_utf8 = true;
	con_print_packed(&o.p, &val, &scale);
	output_is(&o, "    0 : \xe2\x96\x87\xe2\x96\x82 : 4    | 8\n");
	output_deinit(&o);
}

static void test_bar(void **state)
{
	uint64_t one = 1, three = 3;
	struct con_aggval a = { DIF_AGG_count, 0, &one, 1 }, b = { DIF_AGG_sum, 0, &three, 1 };
	struct con_scale scale = { .min_bucket = UINT_MAX };
	struct output o;

	(void)state;
	output_init(&o);
	con_scale_add(&o.p, &scale, &a);
	con_scale_add(&o.p, &scale, &b);
	con_print_bar_heading(&o.p, 9);
	con_print_bar(&o.p, &a, &scale);
	con_print_bar(&o.p, &b, &scale);
	output_is(&o, "\n      key  ------------- Distribution ------------- count    \n"
		      " |@@@@@@@@@@                               1        \n"
		      " |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        \n");
	output_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantize),        cmocka_unit_test(test_negative_counts),
		cmocka_unit_test(test_extreme_buckets), cmocka_unit_test(test_lquantize),
		cmocka_unit_test(test_llquantize),      cmocka_unit_test(test_utf8_bar),
		cmocka_unit_test(test_packed),          cmocka_unit_test(test_bar),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
