/* SPDX-License-Identifier: GPL-2.0-or-later */
/* monitor/unpack: compressed kernels whole, cut short, and with more room than zlib can count. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/monitor/internal.h"

/* Two blocks of "kernel", uncompressed, and their length. */
static const uint8_t lz4[] = { 0x02, 0x21, 0x4c, 0x18, 7,   0,   0,  0, 0x60, 'k',
			       'e',  'r',  'n',  'e',  'l', 7,   0,  0, 0,    0x60,
			       'k',  'e',  'r',  'n',  'e', 'l', 12, 0, 0,    0 };

/* 64 times 'k'. */
static const uint8_t gzip[] = { 0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0xce,
				0xa6, 0x0c, 0x00, 0x00, 0x2d, 0x36, 0xd6, 0x31, 0x40, 0x00, 0x00, 0x00 };

static bool unpacks(const uint8_t *in, size_t len, size_t max, const char *want)
{
	uint8_t *copy = malloc(len), *out = NULL; /* exactly, for the sanitizer */
	size_t out_len = 0;

	assert_non_null(copy);
	memcpy(copy, in, len);
	struct ot_err *err = vp_mon_unpack(copy, len, max, &out, &out_len);
	bool ok = !err;
	if (ok) {
		assert_int_equal(out_len, strlen(want));
		assert_memory_equal(out, want, out_len);
	}
	ot_err_destroy(err);
	free(out);
	free(copy);
	return ok;
}

static void lz4_is_whole_or_refused(void **state)
{
	uint8_t wrong[sizeof(lz4)];

	(void)state;
	assert_true(unpacks(lz4, sizeof(lz4), 4096, "kernelkernel"));
	for (size_t len = 4; len < sizeof(lz4); len++)
		assert_false(unpacks(lz4, len, 4096, "kernelkernel"));
	memcpy(wrong, lz4, sizeof(lz4));
	wrong[sizeof(lz4) - 4]++;
	assert_false(unpacks(wrong, sizeof(wrong), 4096, ""));
	assert_false(unpacks(lz4, sizeof(lz4), 11, ""));
}

static void gzip_has_all_the_room(void **state)
{
	char want[65] = { 0 };

	(void)state;
	memset(want, 'k', 64);
	assert_true(unpacks(gzip, sizeof(gzip), 4096, want));
	assert_false(unpacks(gzip, sizeof(gzip), 63, want));
	assert_false(unpacks(gzip, sizeof(gzip) - 1, 4096, want));
	void *room = malloc((4ull << 30) + 16); /* address space: its pages are not touched */
	free(room);
	if (!room) {
		print_message("SKIP: no room of more than 4 GiB\n");
		skip();
	}
	assert_true(unpacks(gzip, sizeof(gzip), (4ull << 30) + 16, want));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lz4_is_whole_or_refused),
		cmocka_unit_test(gzip_has_all_the_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
