/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/: errors, arena, buffers, maps, hashes, search, units, names. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/search.h"
#include "base/units.h"
#include "base/utf8.h"

static void assert_err(struct ot_err *err, enum ot_err_code code, const char *message)
{
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), code);
	if (message)
		assert_string_equal(ot_err_message(err), message);
	ot_err_destroy(err);
}

static void err_carries_code_message_and_context(void **state)
{
	(void)state;
	struct ot_err *err = ot_err_new(OT_ERR_NOT_FOUND, "no %s, %d tries", "luck", 3);

	assert_int_equal(ot_err_errno(err), 0);
	err = ot_err_prefix(err, "file %u", 7u);
	err = ot_err_prefix(err, "guest web01");
	assert_err(err, OT_ERR_NOT_FOUND, "guest web01: file 7: no luck, 3 tries");
	assert_null(ot_err_prefix(NULL, "nothing went wrong"));
	ot_err_destroy(NULL);
}

static void err_of_the_os_keeps_errno(void **state)
{
	(void)state;
	struct ot_err *err = ot_err_os(ENOENT, "open %s", "x");

	assert_int_equal(ot_err_errno(err), ENOENT);
	assert_err(err, OT_ERR_OS, "open x: No such file or directory");
	assert_err(ot_err_os(EACCES, "open"), OT_ERR_PERMISSION, "open: Permission denied");
	assert_err(ot_err_os(EPERM, "open"), OT_ERR_PERMISSION, "open: Operation not permitted");
}

static void err_nomem_is_static(void **state)
{
	(void)state;
	struct ot_err *err = ot_err_nomem();

	assert_ptr_equal(ot_err_prefix(err, "context"), err);
	ot_err_destroy(err);
	assert_ptr_equal(err, ot_err_nomem());
	assert_err(err, OT_ERR_NO_MEMORY, "out of memory");
}

static void arena_gives_zeroed_aligned_memory(void **state)
{
	(void)state;
	struct ot_arena arena;

	ot_arena_init(&arena);
	unsigned char *previous = NULL;
	for (size_t size = 1; size < 3000; size += 7) {
		unsigned char *p = ot_arena_alloc(&arena, size);
		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < size; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xa5, size);
		if (previous)
			assert_int_equal(previous[0], 0xa5);
		previous = p;
	}
	ot_arena_deinit(&arena);
	ot_arena_deinit(&arena);
}

static void arena_takes_large_and_refuses_absurd_sizes(void **state)
{
	(void)state;
	struct ot_arena arena;

	ot_arena_init(&arena);
	char *large = ot_arena_alloc(&arena, 1 << 20);
	assert_non_null(large);
	large[(1 << 20) - 1] = 1;
	assert_non_null(ot_arena_alloc(&arena, 0));
	assert_null(ot_arena_alloc(&arena, ((size_t)1 << 30) + 1));
	assert_null(ot_arena_alloc(&arena, SIZE_MAX));
	assert_null(ot_arena_strndup(&arena, "x", SIZE_MAX));
	ot_arena_deinit(&arena);
}

static void arena_copies_strings(void **state)
{
	(void)state;
	struct ot_arena arena;

	ot_arena_init(&arena);
	assert_string_equal(ot_arena_strdup(&arena, "probe"), "probe");
	assert_string_equal(ot_arena_strndup(&arena, "probe", 3), "pro");
	assert_string_equal(ot_arena_strndup(&arena, "probe", 0), "");
	assert_string_equal(ot_arena_printf(&arena, "%s:%d", "a", -1), "a:-1");
	ot_arena_deinit(&arena);
}

static void buf_builds_strings(void **state)
{
	(void)state;
	struct ot_buf buf;

	ot_buf_init(&buf);
	assert_string_equal(ot_buf_str(&buf), "");
	ot_buf_puts(&buf, "one");
	ot_buf_putc(&buf, ' ');
	ot_buf_printf(&buf, "%s %d", "two", 3);
	ot_buf_append(&buf, "", 0);
	assert_string_equal(ot_buf_str(&buf), "one two 3");
	assert_int_equal(buf.len, 9);
	ot_buf_clear(&buf);
	assert_string_equal(ot_buf_str(&buf), "");

	ot_auto_free char *empty = ot_buf_take(&buf);
	assert_string_equal(empty, "");
	assert_null(buf.data);
	ot_auto_free char *fresh = ot_buf_take(&buf);
	assert_string_equal(fresh, "");
}

static void buf_pads_with_zeros(void **state)
{
	(void)state;
	struct ot_buf buf;

	ot_buf_init(&buf);
	ot_buf_append(&buf, "abc", 3);
	ot_buf_align(&buf, 8);
	assert_int_equal(buf.len, 8);
	assert_memory_equal(buf.data, "abc\0\0\0\0\0", 8);
	ot_buf_align(&buf, 8);
	assert_int_equal(buf.len, 8);
	ot_buf_zero(&buf, 5000);
	assert_int_equal(buf.len, 5008);
	assert_int_equal(buf.data[5007], 0);
	ot_buf_deinit(&buf);
}

static void buf_in_memory_of_the_callers_does_not_grow(void **state)
{
	(void)state;
	char mem[5] = "....";
	struct ot_buf buf;

	ot_buf_init_fixed(&buf, mem, 4);
	ot_buf_puts(&buf, "ab");
	ot_buf_puts(&buf, "cd"); /* the NUL has no room */
	assert_true(buf.failed);
	assert_int_equal(buf.len, 2);
	ot_buf_clear(&buf);
	ot_buf_puts(&buf, "abc");
	assert_false(buf.failed);
	assert_string_equal(mem, "abc");
	assert_int_equal(mem[4], '\0');
	ot_buf_deinit(&buf);
}

static void buf_failure_sticks(void **state)
{
	(void)state;
	struct ot_buf buf;

	ot_buf_init(&buf);
	ot_buf_puts(&buf, "kept");
	ot_buf_append(&buf, "x", SIZE_MAX / 2);
	assert_true(buf.failed);
	ot_buf_puts(&buf, "ignored");
	assert_int_equal(buf.len, 4);
	assert_null(ot_buf_take(&buf));
	assert_false(buf.failed);
	ot_buf_puts(&buf, "again");
	assert_string_equal(ot_buf_str(&buf), "again");
	ot_buf_deinit(&buf);
}

static void grow_doubles_and_refuses_overflow(void **state)
{
	(void)state;
	uint64_t *array = NULL;
	size_t cap = 0;

	assert_true(ot_grow(&array, &cap, 1, sizeof(*array)));
	assert_true(cap >= 1);
	array[0] = 42;
	assert_true(ot_grow(&array, &cap, 1000, sizeof(*array)));
	assert_true(cap >= 1000);
	assert_int_equal(array[0], 42);
	size_t before = cap;
	assert_false(ot_grow(&array, &cap, SIZE_MAX / 2, sizeof(*array)));
	assert_false(ot_grow(&array, &cap, SIZE_MAX, sizeof(*array)));
	assert_int_equal(cap, before);
	assert_int_equal(array[0], 42);
	free(array);
}

static void map_finds_replaces_and_keeps_order(void **state)
{
	(void)state;
	struct ot_map map;
	int values[1000];
	char key[32];

	ot_map_init(&map);
	assert_null(ot_map_gets(&map, "nothing"));
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		assert_true(ot_map_puts(&map, key, &values[i]));
	}
	assert_true(ot_map_puts(&map, "key7", &values[0]));
	assert_int_equal(map.count, 1000);
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof(key), "key%d", i);
		assert_ptr_equal(ot_map_gets(&map, key), i == 7 ? &values[0] : &values[i]);
		assert_string_equal(map.entries[i]->key, key);
	}
	assert_null(ot_map_gets(&map, "key1000"));
	ot_map_deinit(&map);
	assert_null(ot_map_gets(&map, "key1"));
}

static void map_keys_are_bytes(void **state)
{
	(void)state;
	struct ot_map map;
	int a, b, c;

	ot_map_init(&map);
	assert_true(ot_map_put(&map, "x\0y", 3, &a));
	assert_true(ot_map_put(&map, "x\0z", 3, &b));
	assert_true(ot_map_put(&map, "", 0, &c));
	assert_ptr_equal(ot_map_get(&map, "x\0y", 3), &a);
	assert_ptr_equal(ot_map_get(&map, "x\0z", 3), &b);
	assert_ptr_equal(ot_map_get(&map, "", 0), &c);
	assert_null(ot_map_gets(&map, "x"));
	ot_map_deinit(&map);
}

static void siphash_is_the_published_one(void **state)
{
	(void)state;
	uint64_t none[2] = { 0, 0 }, counting[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };

	/* as CPython hashes bytes with its seed off */
	assert_true(ot_siphash13(none, "a", 1) == 0x407448d2b89b1813);
	assert_true(ot_siphash13(none, "bcdefgh", 7) == 0xc6bcff6669a482a5);
	assert_true(ot_siphash13(none, "12345678", 8) == 0x3489982430560a87);
	assert_true(ot_siphash13(none, "a longer text of several words", 30) == 0x3525b00c3b2119b0);
	assert_true(ot_siphash13(counting, "", 0) == 0xabac0158050fc4dc);
	assert_true(ot_siphash13(counting, "a", 1) != ot_siphash13(none, "a", 1));
}

static void hash_has_a_key(void **state)
{
	(void)state;
	uint64_t none[2] = { 0, 0 };
	unsigned same = 0;

	/* 16 texts hash the same with no key only if the process has none */
	for (char c = 'a'; c < 'q'; c++) {
		assert_int_equal(ot_hash(&c, 1), ot_hash(&c, 1));
		same += ot_hash(&c, 1) == (uint32_t)ot_siphash13(none, &c, 1);
	}
	assert_true(same < 3);
}

static void units_of_time(void **state)
{
	uint64_t ns = 7;

	(void)state;
	assert_true(ot_time_ns(50, "ms", "ns", &ns));
	assert_int_equal(ns, 50000000);
	assert_true(ot_time_ns(3, "", "ns", &ns));
	assert_int_equal(ns, 3);
	assert_true(ot_time_ns(997, "", "hz", &ns));
	assert_int_equal(ns, 1003009);
	assert_true(ot_time_ns(2, "Day", "hz", &ns));
	assert_true(ns == 172800 * OT_NS_PER_SEC);
	assert_false(ot_time_ns(0, "hz", "ns", &ns));
	assert_false(ot_time_ns(1, "fortnight", "ns", &ns));
	assert_false(ot_time_ns(UINT64_MAX, "us", "ns", &ns));
	assert_false(ot_time_ns((uint64_t)INT64_MAX + 1, "ns", "ns", &ns));
	assert_true(ns == 172800 * OT_NS_PER_SEC); /* set only on success */
}

/* Every boundary of arrays of every size up to a dozen, with and without equal elements. */
static void counts_before_a_boundary(void **state)
{
	static const uint32_t list[] = { 1, 3, 3, 3, 5, 7, 7, 9, 11, 11, 11, 13 };

	(void)state;
	for (size_t n = 0; n <= OT_ARRAY_SIZE(list); n++) {
		for (uint32_t x = 0; x < 15; x++) {
			size_t below = 0, up_to = 0;
			for (size_t i = 0; i < n; i++) {
				below += list[i] < x;
				up_to += list[i] <= x;
			}
			assert_int_equal(OT_COUNT_BEFORE(n, k, list[k] < x), below);
			assert_int_equal(OT_COUNT_BEFORE(n, k, list[k] <= x), up_to);
		}
	}
}

/* However the input is cut, the hash is that of the whole; for 15 bytes, the published one. */
static void siphash24_takes_pieces(void **state)
{
	const uint64_t key[2] = { 0x0706050403020100, 0x0f0e0d0c0b0a0908 };
	uint64_t expected = 0;
	uint8_t text[40];

	(void)state;
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)i;
	for (size_t len = 0; len <= sizeof(text); len++) {
		for (size_t cut = 0; cut <= len; cut++) {
			struct ot_siphash24 s;
			ot_siphash24_init(&s, key);
			ot_siphash24_add(&s, text, cut);
			ot_siphash24_add(&s, text + cut, len - cut);
			uint64_t hash = ot_siphash24_end(&s);
			if (!cut)
				expected = hash;
			assert_true(hash == expected);
		}
		if (len == 15)
			assert_true(expected == 0xa129ca6149be45e5);
	}
}

static void utf8_names_stay_on_one_line(void **state)
{
	static const struct {
		const char *name, *want;
	} cases[] = {
		{ "web01", "web01" },
		{ "b\xc3\xbcro \xe2\x82\xac \xf0\x9f\x98\x80", "b\xc3\xbcro \xe2\x82\xac \xf0\x9f\x98\x80" },
		{ "a\nb\tc\x7f\x1b[2J", "a?b?c??[2J" },
		{ "a\xc2\x85\xc2\x9b|", "a??|" },                  /* NEL, CSI */
		{ "a\xe2\x80\xa8\xe2\x80\xa9|", "a??|" },          /* line and paragraph separators */
		{ "a\xe2\x80\xae\xd8\x9c\xe2\x81\xa6|", "a???|" }, /* bidi controls */
		{ "a\x85\x9b\xff|\xe2\x80", "a???|??" },           /* no UTF-8, and cut */
		{ "", "" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		snprintf(text, sizeof(text), "%s", cases[i].name);
		ot_utf8_tame_string(text);
		assert_string_equal(text, cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(err_carries_code_message_and_context),
		cmocka_unit_test(err_of_the_os_keeps_errno),
		cmocka_unit_test(err_nomem_is_static),
		cmocka_unit_test(utf8_names_stay_on_one_line),
		cmocka_unit_test(arena_gives_zeroed_aligned_memory),
		cmocka_unit_test(arena_takes_large_and_refuses_absurd_sizes),
		cmocka_unit_test(arena_copies_strings),
		cmocka_unit_test(buf_builds_strings),
		cmocka_unit_test(buf_in_memory_of_the_callers_does_not_grow),
		cmocka_unit_test(buf_pads_with_zeros),
		cmocka_unit_test(buf_failure_sticks),
		cmocka_unit_test(grow_doubles_and_refuses_overflow),
		cmocka_unit_test(map_finds_replaces_and_keeps_order),
		cmocka_unit_test(map_keys_are_bytes),
		cmocka_unit_test(siphash_is_the_published_one),
		cmocka_unit_test(siphash24_takes_pieces),
		cmocka_unit_test(counts_before_a_boundary),
		cmocka_unit_test(hash_has_a_key),
		cmocka_unit_test(units_of_time),
	};

	return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
