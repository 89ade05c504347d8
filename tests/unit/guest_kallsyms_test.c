/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest/kallsyms: every layout that kernels have used, and inconsistent tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "pace.h"

#define BASE 0xffffffff9ac00000ull
#define SIZE (256u << 10)
#define OFF  0x8000u

/* A table in noise; the image's memory ends with the image, so that a sanitizer sees each step over it. */
struct table {
	struct vp_image image;
	struct ks_symbol syms[KS_SYMBOLS];
	struct ks_places places;
};

static void table_init_at(struct table *t, const struct ks_layout *layout, size_t off)
{
	t->image = (struct vp_image){ vp_gva(BASE), malloc(SIZE), SIZE };
	assert_non_null(t->image.data);
	fill_noise(t->image.data, SIZE, 7);
	ks_make_symbols(layout, BASE, t->syms);
	ks_write(layout, t->image.data, SIZE, off, BASE, t->syms, &t->places);
}

static void table_init(struct table *t, const struct ks_layout *layout)
{
	table_init_at(t, layout, OFF);
}

static void assert_decodes(struct table *t, const struct ks_layout *layout, uint64_t token_table)
{
	struct vp_kallsyms ks = { 0 };

	assert_ok(vp_kallsyms_decode(&t->image, token_table, &ks));
	assert_int_equal(ks.count, KS_SYMBOLS);
	for (unsigned int i = 0; i < KS_SYMBOLS; i++) {
		assert_string_equal(ks.names + ks.syms[i].name, t->syms[i].name);
		assert_int_equal(ks.syms[i].addr, t->syms[i].addr);
		assert_int_equal(ks.syms[i].type, t->syms[i].type);
	}
	assert_int_equal(ks.values, layout->values);
	assert_int_equal(ks.values_first, layout->values_first);
	assert_int_equal(ks.marker_size, layout->marker_size);
	assert_int_equal(ks.uleb, layout->uleb);
	assert_int_equal(ks.tables_off, t->places.count);
	vp_kallsyms_deinit(&ks);
}

static void all_layouts_decode(void **state)
{
	(void)state;
	/* By default not all combinations, but each field has each of its values. */
	for (unsigned int i = 0; i < 4 * 64; i += (unsigned)pace_rounds(5, 1)) {
		struct ks_layout layout = {
			.values = (enum vp_kallsyms_values)(i / 64),
			.values_first = i & 1,
			.seqs = i & 2,
			.marker_size = i & 4 ? 4 : 8,
			.uleb = i & 8,
			.packed = i & 16,
		};
		struct table t;

		/* Kernels with place-relative values all use the newer order. */
		if (layout.values == VP_KALLSYMS_PLACE && layout.values_first)
			continue;
		table_init_at(&t, &layout, i & 32 ? OFF + 4 : OFF);
		assert_decodes(&t, &layout, 0);
		assert_decodes(&t, &layout, BASE + t.places.tokens);
		assert_decodes(&t, &layout, BASE + t.places.tokens + 1); /* a wrong hint is no harm */
		assert_decodes(&t, &layout, 1);
		vp_image_deinit(&t.image);
	}
}

static const struct ks_layout modern = { VP_KALLSYMS_PERCPU, false, true, 4, true };
static const struct ks_layout older = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static void decoys_are_passed_by(void **state)
{
	static const char digits[] = "0\0"
				     "1\0"
				     "2\0"
				     "3\0"
				     "4\0"
				     "5\0"
				     "6\0"
				     "7\0"
				     "8\0"
				     "9";
	struct table t;

	(void)state;
	table_init(&t, &modern);
	memcpy(t.image.data + 0x100, digits, sizeof(digits));
	memcpy(t.image.data + SIZE - sizeof(digits), digits, sizeof(digits));
	assert_decodes(&t, &modern, 0);
	vp_image_deinit(&t.image);
}

static void none_is_said_so(void **state)
{
	struct table t;
	struct vp_kallsyms ks;
	struct vp_image empty = { vp_gva(BASE), (uint8_t *)"", 0 };

	(void)state;
	table_init(&t, &modern);
	fill_noise(t.image.data, SIZE, 3);
	assert_err(vp_kallsyms_decode(&t.image, 0, &ks), OT_ERR_NOT_FOUND, "no kallsyms tables");
	assert_err(vp_kallsyms_decode(&t.image, BASE + 4, &ks), OT_ERR_NOT_FOUND, NULL);
	assert_err(vp_kallsyms_decode(&empty, 0, &ks), OT_ERR_NOT_FOUND, NULL);
	vp_image_deinit(&t.image);
}

/* What is broken, and what must come of it. */
static void lies_are_refused(void **state)
{
	const struct ks_layout *layouts[] = { &modern, &older };
	uint32_t big = 0x7fffffff;

	(void)state;
	for (unsigned int l = 0; l < 2; l++) {
		for (unsigned int lie = 0; lie < 6; lie++) {
			struct vp_kallsyms ks;
			struct table t;
			uint8_t *d;

			table_init(&t, layouts[l]);
			d = t.image.data;
			if (lie == 0)
				memcpy(d + t.places.count, &big, 4);
			else if (lie == 1)
				d[t.places.names] ^= 1; /* every name behind it is off by one */
			else if (lie == 2)
				d[t.places.markers + 4] ^= 1;
			else if (lie == 3)
				d[t.places.index + 100] ^= 1;
			else if (lie == 4)
				memset(d + t.places.tokens, 'a', t.places.index - t.places.tokens);
			else
				t.image.base.v += 0x200000; /* the symbols are of a kernel elsewhere */
			assert_err(vp_kallsyms_decode(&t.image, BASE + t.places.tokens, &ks),
				   lie == 5 ? OT_ERR_BAD_DATA : OT_ERR_NOT_FOUND, NULL);
			vp_image_deinit(&t.image);
		}
	}
}

/* The image ends in the middle of the tables. */
static void cut_images_end_in_an_error(void **state)
{
	const size_t step = pace_rounds(1949, 97);
	struct table t;

	(void)state;
	table_init(&t, &modern);
	for (size_t size = t.places.end - 8; size > OFF; size -= step) {
		struct vp_image cut = { vp_gva(BASE), malloc(size), size };
		struct vp_kallsyms ks;
		struct ot_err *err;

		assert_non_null(cut.data);
		memcpy(cut.data, t.image.data, size);
		err = vp_kallsyms_decode(&cut, 0, &ks);
		if (!err) { /* all that is missing are the seqs */
			assert_true(size >= t.places.end - 3 * KS_SYMBOLS - 16);
			vp_kallsyms_deinit(&ks);
		}
		ot_err_destroy(err);
		vp_image_deinit(&cut);
	}
	vp_image_deinit(&t.image);
}

/* Bytes changed at random: the result is an error or a table of strings. */
static void damage_is_survived(void **state)
{
	const struct ks_layout *layouts[] = { &modern, &older };
	const unsigned long rounds = pace_rounds(30, 400);
	uint32_t seed = 99;

	(void)state;
	for (unsigned int round = 0; round < rounds; round++) {
		struct vp_kallsyms ks;
		struct table t;
		struct ot_err *err;

		table_init(&t, layouts[round % 2]);
		for (unsigned int i = 0; i <= round % 5; i++) {
			size_t span = t.places.end - OFF;

			seed = seed * 1664525u + 1013904223u;
			t.image.data[OFF + (seed >> 8) % span] = (uint8_t)(seed >> 3);
		}
		err = vp_kallsyms_decode(&t.image, BASE + t.places.tokens, &ks);
		if (!err) {
			assert_true(ks.count >= 1 && ks.count <= KS_SYMBOLS);
			for (size_t i = 0; i < ks.count; i++)
				assert_true(strlen(ks.names + ks.syms[i].name) <= VP_KALLSYMS_NAME_MAX);
			vp_kallsyms_deinit(&ks);
		}
		ot_err_destroy(err);
		vp_image_deinit(&t.image);
	}
}

/* An image made to keep a search busy: digits everywhere, and markers that fit before any of them. */
static void a_search_has_an_end(void **state)
{
	static const char digits[] = "0\0"
				     "1\0"
				     "2\0"
				     "3\0"
				     "4\0"
				     "5\0"
				     "6\0"
				     "7\0"
				     "8\0"
				     "9";
	size_t size = 8u << 20;
	struct vp_image image = { vp_gva(BASE), malloc(size), size };
	struct vp_kallsyms ks;
	struct table t;

	(void)state;
	assert_non_null(image.data);
	table_init(&t, &modern);
	for (size_t i = 0; i < size; i += 4) {
		uint32_t v = (uint32_t)(i % 1024 * 600);

		memcpy(image.data + i, &v, sizeof(v));
	}
	for (size_t i = 4u << 20; i + 8192 < size; i += 8192)
		memcpy(image.data + i, t.image.data + t.places.tokens,
		       t.places.index + 512 - t.places.tokens);
	for (size_t i = 0; i < 2u << 20; i += sizeof(digits))
		memcpy(image.data + i, digits, sizeof(digits));
	assert_err(vp_kallsyms_decode(&image, 0, &ks), OT_ERR_NOT_FOUND, "given up");
	vp_image_deinit(&image);
	vp_image_deinit(&t.image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_layouts_decode),
		cmocka_unit_test(decoys_are_passed_by),
		cmocka_unit_test(none_is_said_so),
		cmocka_unit_test(lies_are_refused),
		cmocka_unit_test(cut_images_end_in_an_error),
		cmocka_unit_test(damage_is_survived),
		cmocka_unit_test(a_search_has_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
