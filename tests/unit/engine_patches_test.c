/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text with a backend's traps in it, read as the guest has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/engine/wire/patches.h"

#define TEXT 0xffffffff81000000ull

/* Of 16 bytes 0 to 15, [4, 9) and [9, 11) are traps. */
static struct vp_patch list[] = {
	{ .gva = TEXT + 9, .len = 2, .there = { 0xe6, 0x99 }, .was = { 9, 10 } },
	{ .gva = TEXT + 4, .len = 5, .there = { 0x3e, 0x3e, 0x3e, 0xe6, 0x98 }, .was = { 4, 5, 6, 7, 8 } },
	{ .gva = TEXT, .len = 0 },
	{ .gva = TEXT, .len = 16 },
};
static struct vp_patches patches = { list, OT_ARRAY_SIZE(list) };

static void text(uint8_t bytes[16])
{
	for (uint8_t i = 0; i < 16; i++)
		bytes[i] = i;
	for (uint32_t i = 0; i < patches.n; i++)
		memcpy(bytes + (list[i].gva - TEXT), list[i].there, list[i].len);
}

static void test_sorted(void **state)
{
	(void)state;
	vp_patches_sort(&patches);
	assert_int_equal(patches.n, 2); /* those of impossible length are gone */
	assert_int_equal(list[0].gva, TEXT + 4);
	assert_int_equal(list[1].gva, TEXT + 9);
}

/* Whatever part of it is read. */
static void test_undone(void **state)
{
	uint8_t bytes[16];

	(void)state;
	for (unsigned from = 0; from < 16; from++)
		for (unsigned to = from; to <= 16; to++) {
			text(bytes);
			vp_patches_undo(&patches, TEXT + from, bytes + from, to - from);
			for (unsigned i = from; i < to; i++)
				assert_int_equal(bytes[i], i);
		}
}

/* The guest wrote over one of them: that is the guest's own. */
static void test_changed(void **state)
{
	uint8_t bytes[16];

	(void)state;
	text(bytes);
	bytes[4] = 0xcc;
	vp_patches_undo(&patches, TEXT, bytes, sizeof(bytes));
	assert_int_equal(bytes[4], 0xcc);
	assert_int_equal(bytes[7], 0xe6);
	assert_int_equal(bytes[9], 9);
	vp_patches_undo(&(struct vp_patches){ 0 }, TEXT, bytes, sizeof(bytes));
	assert_int_equal(bytes[7], 0xe6);
}

/* What a hostile VMM might send: a lookup of [5, …) must not take the second for one that reaches
 * there. */
static void test_overlapping(void **state)
{
	struct vp_patch wrong[] = {
		{ .gva = TEXT, .len = 15, .there = { 1 } },
		{ .gva = TEXT + 1, .len = 1, .there = { 2 } },
		{ .gva = UINT64_MAX - 3, .len = 8 },
		{ .gva = TEXT + 15, .len = 1 },
	};
	struct vp_patches p = { wrong, OT_ARRAY_SIZE(wrong) };
	uint8_t bytes[4096] = { 0 };

	(void)state;
	vp_patches_sort(&p);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.list[0].len, 15);
	assert_int_equal(p.list[1].gva, TEXT + 15);
	vp_patches_undo(&p, TEXT + 5, bytes, sizeof(bytes));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorted), /* first */
		cmocka_unit_test(test_undone),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_overlapping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
