/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Aggregations: words, buckets, merging, and the table in a buffer half. */
#include "dif/vm/agg.h"
#include "dif/vm/hash.h"

#include "tests/unit/dif_fixture.h"

static uint64_t lq(int32_t base, uint16_t levels, uint16_t step)
{
	return (uint64_t)step << 48 | (uint64_t)levels << 32 | (uint32_t)base;
}

static uint64_t llq(uint16_t factor, uint16_t low, uint16_t high, uint16_t nsteps)
{
	return (uint64_t)factor << 48 | (uint64_t)low << 32 | (uint64_t)high << 16 | nsteps;
}

static void test_simple(void **state)
{
	static const int64_t values[] = { 5, -3, 100, 7 };
	uint64_t count[1], min[1], max[1], avg[2], sum[1], stddev[4];
	(void)state;

	dif_agg_init(DIF_AGG_count, 0, count);
	dif_agg_init(DIF_AGG_min, 0, min);
	dif_agg_init(DIF_AGG_max, 0, max);
	dif_agg_init(DIF_AGG_avg, 0, avg);
	dif_agg_init(DIF_AGG_sum, 0, sum);
	dif_agg_init(DIF_AGG_stddev, 0, stddev);
	assert_int_equal(min[0], INT64_MAX);
	assert_int_equal((int64_t)max[0], INT64_MIN);
	for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++) {
		uint64_t v = (uint64_t)values[i];
		dif_agg_update(DIF_AGG_count, 0, count, v, 1);
		dif_agg_update(DIF_AGG_min, 0, min, v, 1);
		dif_agg_update(DIF_AGG_max, 0, max, v, 1);
		dif_agg_update(DIF_AGG_avg, 0, avg, v, 1);
		dif_agg_update(DIF_AGG_sum, 0, sum, v, 1);
		dif_agg_update(DIF_AGG_stddev, 0, stddev, v, 1);
	}
	assert_int_equal(count[0], 4);
	assert_int_equal((int64_t)min[0], -3);
	assert_int_equal(max[0], 100);
	assert_int_equal(avg[0], 4);
	assert_int_equal(avg[1], 109);
	assert_int_equal(sum[0], 109);
	assert_int_equal(stddev[0], 4);
	assert_int_equal(stddev[1], 109);
	assert_int_equal(stddev[2], 25 + 9 + 10000 + 49);
	assert_int_equal(stddev[3], 0);

	/* 2^63 squared twice is 2^127: the high word carries. */
	dif_agg_init(DIF_AGG_stddev, 0, stddev);
	dif_agg_update(DIF_AGG_stddev, 0, stddev, (uint64_t)INT64_MIN, 1);
	dif_agg_update(DIF_AGG_stddev, 0, stddev, (uint64_t)INT64_MIN, 1);
	assert_int_equal(stddev[2], 0);
	assert_int_equal(stddev[3], 1ull << 63);
}

static void test_quantize(void **state)
{
	uint64_t words[127];
	(void)state;

	assert_int_equal(dif_agg_words(DIF_AGG_quantize, 0), 127);
	assert_int_equal(dif_quantize_bucket(0), 63);
	assert_int_equal(dif_quantize_bucket(1), 64);
	assert_int_equal(dif_quantize_bucket(3), 65);
	assert_int_equal(dif_quantize_bucket(4), 66);
	assert_int_equal(dif_quantize_bucket(INT64_MAX), 126);
	assert_int_equal(dif_quantize_bucket(-1), 62);
	assert_int_equal(dif_quantize_bucket(-3), 61);
	assert_int_equal(dif_quantize_bucket(-4), 60);
	assert_int_equal(dif_quantize_bucket(INT64_MIN), 0);
	for (unsigned b = 0; b < 127; b++)
		assert_int_equal(dif_quantize_bucket(dif_quantize_bucket_value(b)), b);
	assert_int_equal(dif_quantize_bucket_value(126), 1ll << 62);
	assert_int_equal(dif_quantize_bucket_value(0), -(1ll << 62));
	dif_agg_init(DIF_AGG_quantize, 0, words);
	dif_agg_update(DIF_AGG_quantize, 0, words, 5, 1);
	dif_agg_update(DIF_AGG_quantize, 0, words, 4, 10);
	assert_int_equal(words[66], 11);
}

static void test_lquantize(void **state)
{
	static const struct {
		int64_t value;
		unsigned bucket;
	} cases[] = {
		{ -11, 0 }, { -10, 1 }, { -8, 1 },         { -7, 2 },        { 9, 7 },
		{ 10, 7 },  { 11, 8 },  { INT32_MAX, 11 }, { INT32_MIN, 0 }, { 0x100000000ll - 10, 1 }
	};
	uint64_t arg = lq(-10, 10, 3), words[13];
	(void)state;

	assert_int_equal(dif_agg_words(DIF_AGG_lquantize, arg), 13);
	assert_int_equal(dif_agg_words(DIF_AGG_lquantize, lq(0, 0, 1)), 0);
	assert_int_equal(dif_agg_words(DIF_AGG_lquantize, lq(0, 1, 0)), 0);
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		dif_agg_init(DIF_AGG_lquantize, arg, words);
		dif_agg_update(DIF_AGG_lquantize, arg, words, (uint64_t)cases[i].value, 2);
		assert_int_equal(words[0], arg);
		assert_int_equal(words[1 + cases[i].bucket], 2);
	}
}

static void test_llquantize(void **state)
{
	/* 10^0 … 10^3 in 10 steps: 0 | 1..9 | 10..90 | 100..900 | 1000..9000 | over. */
	uint64_t arg = llq(10, 0, 3, 10), words[64], value;
	(void)state;

	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, arg), 1 + 1 + 4 * 9 + 1);
	static const struct {
		int64_t value;
		unsigned bucket;
	} cases[] = { { -5, 0 },  { 0, 0 },   { 1, 1 },    { 9, 9 },     { 10, 10 },    { 19, 10 },
		      { 20, 11 }, { 99, 18 }, { 100, 19 }, { 9999, 36 }, { 10000, 37 }, { INT64_MAX, 37 } };
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		dif_agg_init(DIF_AGG_llquantize, arg, words);
		dif_agg_update(DIF_AGG_llquantize, arg, words, (uint64_t)cases[i].value, 1);
		assert_int_equal(words[1 + cases[i].bucket], 1);
	}
	assert_false(dif_llquantize_bucket_value(arg, 0, &value));
	assert_false(dif_llquantize_bucket_value(arg, 38, &value));
	for (uint32_t b = 1; b < 38; b++) {
		assert_true(dif_llquantize_bucket_value(arg, b, &value));
		dif_agg_init(DIF_AGG_llquantize, arg, words);
		dif_agg_update(DIF_AGG_llquantize, arg, words, value, 1);
		assert_int_equal(words[1 + b], 1);
	}
	/* Rules that parameters break. */
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, llq(1, 0, 3, 10)), 0);
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, llq(10, 3, 3, 10)), 0);
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, llq(10, 0, 3, 5)), 0);
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, llq(10, 0, 3, 15)), 0);
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, llq(10, 0, 19, 10)), 0);
	assert_int_equal(dif_agg_words(DIF_AGG_llquantize, llq(10, 0, 65535, 10)), 0);
	assert_true(dif_agg_words(DIF_AGG_llquantize, llq(2, 0, 62, 2)) > 0);
}

/* No parameters and no value make an update write outside of its words. */
static void test_histograms_stay_inside(void **state)
{
	static const uint16_t some[] = { 0, 1, 2, 3, 5, 10, 16, 62, 63, 64, 100, 1000, 65535 };
	const size_t n = OT_ARRAY_SIZE(some);
	unsigned possible = 0;
	(void)state;

	for (size_t i = 0; i < n * n * n * n; i++) {
		uint64_t arg = llq(some[i % n], some[i / n % n], some[i / n / n % n], some[i / n / n / n]);
		uint32_t words = dif_agg_words(DIF_AGG_llquantize, arg);
		if (!words)
			continue;
		possible++;
		uint64_t *w = malloc(words * 8ull); /* exactly: the sanitizer sees one too many */
		assert_non_null(w);
		dif_agg_init(DIF_AGG_llquantize, arg, w);
		for (unsigned bit = 0; bit < 64; bit++) {
			dif_agg_update(DIF_AGG_llquantize, arg, w, 1ull << bit, 1);
			dif_agg_update(DIF_AGG_llquantize, arg, w, (1ull << bit) - 1, 1);
		}
		uint64_t total = 0;
		for (uint32_t k = 1; k < words; k++)
			total += w[k];
		assert_int_equal(total, 128);
		free(w);
	}
	assert_true(possible > 10);
}

static void test_merge(void **state)
{
	uint64_t a[127], b[127], arg = lq(0, 3, 1);
	(void)state;

	dif_agg_init(DIF_AGG_min, 0, a);
	b[0] = 5;
	dif_agg_merge(DIF_AGG_min, a, b);
	assert_int_equal(a[0], 5);
	b[0] = (uint64_t)-5;
	dif_agg_merge(DIF_AGG_min, a, b);
	assert_int_equal((int64_t)a[0], -5);
	dif_agg_merge(DIF_AGG_max, a, (uint64_t[]){ 9 });
	assert_int_equal(a[0], 9);
	dif_agg_init(DIF_AGG_stddev, 0, a);
	dif_agg_merge(DIF_AGG_stddev, a, (uint64_t[]){ 1, 2, UINT64_MAX, 0 });
	dif_agg_merge(DIF_AGG_stddev, a, (uint64_t[]){ 1, 2, 1, 0 });
	assert_int_equal(a[1], 4);
	assert_int_equal(a[2], 0);
	assert_int_equal(a[3], 1);
	dif_agg_init(DIF_AGG_lquantize, arg, a);
	/* A peer that lies about the parameters changes nothing about how much is merged. */
	dif_agg_merge(DIF_AGG_lquantize, a, (uint64_t[]){ UINT64_MAX, 1, 2, 3, 4, 5 });
	dif_agg_merge(DIF_AGG_lquantize, a, (uint64_t[]){ arg, 1, 1, 1, 1, 1 });
	assert_int_equal(a[0], arg);
	assert_int_equal(a[1], 2);
	assert_int_equal(a[5], 6);
	dif_agg_init(DIF_AGG_quantize, 0, a);
	memset(b, 0, sizeof(b));
	b[0] = b[126] = 7;
	dif_agg_merge(DIF_AGG_quantize, a, b);
	dif_agg_merge(DIF_AGG_quantize, a, b);
	assert_int_equal(a[0] + a[126], 28);
}

/* --- the table ------------------------------------------------------------------------------ */

static struct dif_agg_layout layout_of(uint32_t tuple_size, uint32_t nwords)
{
	return (struct dif_agg_layout){ .tuple_size = tuple_size,
					.data_offset = (tuple_size + 7) & ~7u,
					.nwords = nwords,
					.increment_action = -1 };
}

static void test_table(void **state)
{
	uint64_t mem[8192 / 8];
	struct dif_agg_layout layout = layout_of(12, 1);
	struct dif_aggtab_entry e;
	struct dif_aggtab tab;
	size_t pos = 0;
	uint32_t n;
	(void)state;

	fx_no_error(dif_aggtab_init(&tab, mem, sizeof(mem)));
	for (int round = 0; round < 3; round++) {
		for (n = 0;; n++) {
			uint32_t tuple[3] = { 1, n, n * 7 };
			uint64_t *words = dif_aggtab_lookup(&tab, &layout, DIF_AGG_count, 0, tuple, 3);
			if (!words)
				break;
			dif_agg_update(DIF_AGG_count, 0, words, 0, 1);
		}
		assert_true(n >= 100); /* and then there is no room: a drop */
	}
	while (dif_aggtab_next(mem, tab.used, &pos, &e)) {
		assert_int_equal(e.epid, 3);
		assert_int_equal(e.tuple_size, 12);
		assert_int_equal(e.nwords, 1);
		assert_int_equal(e.words[0], 3); /* found again each round */
		n--;
	}
	assert_int_equal(n, 0);
	assert_int_equal(pos, tab.used);
	dif_aggtab_reset(&tab);
	assert_int_equal(tab.used, 0);
	uint32_t tuple[3] = { 1, 0, 0 };
	uint64_t *words = dif_aggtab_lookup(&tab, &layout, DIF_AGG_count, 0, tuple, 3);
	assert_non_null(words);
	assert_int_equal(words[0], 0);
	dif_aggtab_deinit(&tab);
}

/* Tuples of every length find themselves and nothing else. */
static void test_table_lengths(void **state)
{
	size_t size = 1 << 20;
	uint8_t tuple[300] = { 0 };
	struct dif_aggtab tab;
	void *mem = malloc(size);
	(void)state;

	assert_non_null(mem);
	fx_no_error(dif_aggtab_init(&tab, mem, size));
	for (int round = 0; round < 2; round++) {
		for (uint32_t len = 4; len < sizeof(tuple); len++) {
			struct dif_agg_layout layout = layout_of(len, 1);
			tuple[len - 1] = 0xff;
			uint64_t *words = dif_aggtab_lookup(&tab, &layout, DIF_AGG_sum, 0, tuple, 1);
			tuple[len - 1] = 0;
			assert_non_null(words);
			assert_int_equal((uintptr_t)words % 8, 0);
			assert_int_equal(words[0], round ? len : 0);
			words[0] = len;
		}
	}
	assert_int_equal(tab.nentries, sizeof(tuple) - 4);
	dif_aggtab_deinit(&tab);
	free(mem);
}

/* The peer scribbles over the half while the writer uses it; the walk meets anything. */
/* A guest that knows the program but not the seed must not be able to make its keys meet: a key word that
 * cancels a constant of the hash would wipe out the words beside it. */
static void test_hash_hides_nothing(void **state)
{
	static const uint64_t constants[] = { 0xd6e8feb86659fd93, 0xa0761d6478bd642f, 0xe7037ed1a0b428db,
					      0x9e3779b97f4a7c15, 0 };
	(void)state;

	for (unsigned at = 0; at < 6; at++)
		for (unsigned i = 0; i < OT_ARRAY_SIZE(constants); i++) {
			uint64_t a[6] = { 0 }, b[6] = { 0 };
			a[at] = b[at] = constants[i];
			b[at ^ 1] = 12345;
			for (size_t len = 16; len <= sizeof(a); len += 16)
				assert_true(at * 8 >= len ||
					    dif_hash64(a, len, 77) != dif_hash64(b, len, 77));
		}
}

static void test_table_hostile(void **state)
{
	size_t size = 4096;
	uint8_t *mem = malloc(size); /* exactly, for the sanitizer */
	struct dif_aggtab tab;
	unsigned seed = 1;
	(void)state;

	assert_non_null(mem);
	memset(mem, 0, size);
	fx_no_error(dif_aggtab_init(&tab, mem, size));
	for (int i = 0; i < 20000; i++) {
		uint32_t words_n = (uint32_t)rand_r(&seed) % 2 ? 1 : 127, key = (uint32_t)rand_r(&seed) % 64;
		struct dif_agg_layout layout = layout_of(8, words_n);
		uint32_t tuple[2] = { words_n, key };
		enum dif_agg_kind kind = words_n == 1 ? DIF_AGG_sum : DIF_AGG_quantize;
		uint64_t *words = dif_aggtab_lookup(&tab, &layout, kind, 0, tuple, 1);
		if (words) {
			assert_true((uint8_t *)words >= mem && (uint8_t *)(words + words_n) <= mem + size);
			dif_agg_update(kind, 0, words, key, 1);
		}
		mem[(unsigned)rand_r(&seed) % size] = (uint8_t)rand_r(&seed);
		if (i % 1000 == 0)
			dif_aggtab_reset(&tab);
		struct dif_aggtab_entry e;
		uint64_t sum = 0;
		for (size_t pos = (unsigned)rand_r(&seed) % size & ~7u; dif_aggtab_next(mem, size, &pos, &e);)
			sum += ((const uint8_t *)e.tuple)[e.tuple_size - 1] + e.words[e.nwords - 1];
		(void)sum;
	}
	dif_aggtab_deinit(&tab);
	free(mem);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_simple),
		cmocka_unit_test(test_quantize),
		cmocka_unit_test(test_lquantize),
		cmocka_unit_test(test_llquantize),
		cmocka_unit_test(test_histograms_stay_inside),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_table_lengths),
		cmocka_unit_test(test_hash_hides_nothing),
		cmocka_unit_test(test_table_hostile),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
