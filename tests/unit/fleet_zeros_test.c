/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/link/zeros: what was packed is what comes out, and what nobody has packed is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/link/zeros.h"

#define SIZE 4096

static struct ot_buf packed, unpacked;

static int teardown(void **state)
{
	(void)state;
	ot_buf_deinit(&packed);
	ot_buf_deinit(&unpacked);
	return 0;
}

static size_t check(const uint8_t *data, size_t len)
{
	if (!fl_zeros_pack(data, len, &packed))
		return len;
	assert_true(packed.len < len);
	assert_true(fl_zeros_unpack(packed.data, packed.len, len, &unpacked));
	assert_int_equal(unpacked.len, len);
	assert_memory_equal(unpacked.data, data, len);
	assert_false(fl_zeros_unpack(packed.data, packed.len, len - 1, &unpacked));
	return packed.len;
}

/* Zeros in runs of every length, at every place. */
static void test_runs(void **state)
{
	uint8_t data[600];

	(void)state;
	for (size_t from = 0; from < sizeof(data); from += 13) {
		for (size_t n = 0; from + n <= sizeof(data); n++) {
			memset(data, 'x', sizeof(data));
			memset(data + from, 0, n);
			const size_t len = check(data, sizeof(data));

			/* two bytes for each 255 others, and for each 255 zeros */
			assert_true(len <= sizeof(data) - n + 12 || len == sizeof(data));
		}
	}
}

static void test_random(void **state)
{
	uint8_t data[SIZE];

	(void)state;
	srand(18);
	for (unsigned round = 0; round < 2000; round++) {
		const size_t len = (size_t)rand() % sizeof(data);
		const int zeros = rand() % 100;

		for (size_t i = 0; i < len; i++)
			data[i] = rand() % 100 < zeros ? 0 : (uint8_t)rand();
		check(data, len);
	}
}

/* A key of 16 letters in the room of 256, and its count: what a delta is. */
static void test_delta(void **state)
{
	uint8_t data[288] = { 1, 0, 0, 0, 1, 0, 0, 0, 8, 1, 0, 0, 1 };

	(void)state;
	memcpy(data + 20, "sixteen letters.", 16);
	data[276] = 8;
	data[280] = 7;
	assert_true(check(data, sizeof(data)) < 48);
	memset(data, 0, sizeof(data));
	assert_true(check(data, sizeof(data)) <= 8);
	memset(data, 1, sizeof(data));
	assert_false(fl_zeros_pack(data, sizeof(data), &packed));
	assert_false(fl_zeros_pack(data, 0, &packed));
	assert_false(fl_zeros_pack(NULL, 0, &packed)); /* as a packet without a stretch has it */
}

static void test_hostile(void **state)
{
	static const uint8_t zeros[] = { 0, 255, 0, 255, 0, 255, 0, 255 };

	(void)state;
	assert_true(fl_zeros_unpack(zeros, sizeof(zeros), 1020, &unpacked));
	assert_int_equal(unpacked.len, 1020);
	assert_false(fl_zeros_unpack(zeros, sizeof(zeros), 1019, &unpacked));
	assert_false(fl_zeros_unpack(zeros, sizeof(zeros) - 1, 1020, &unpacked)); /* no number of zeros */
	assert_false(fl_zeros_unpack("\4abc", 4, 1020, &unpacked));               /* too few bytes */
	assert_false(fl_zeros_unpack("\3abc", 4, 1020, &unpacked));
	assert_true(fl_zeros_unpack("\3abc\1", 5, 1020, &unpacked));
	assert_memory_equal(unpacked.data, "abc", 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_delta),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
