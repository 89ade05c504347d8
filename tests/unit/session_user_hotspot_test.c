/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HotSpot's layout by its own description, and what its frames are called: in a made-up process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/hotspot_image.h"

static struct hotspot_image image;
static const struct vp_user_reader reader = { hotspot_image_read, &image };
static struct vp_hotspot_layout layout;
static const char *lacks;

static enum vp_hotspot_found find(void)
{
	lacks = NULL;
	return vp_hotspot_find(&reader, &image.file, HI_BASE, &layout, &lacks);
}

static void make(void)
{
	hotspot_image_init(&image);
	assert_int_equal(find(), VP_HOTSPOT_FOUND);
}

/* --- the layout ---------------------------------------------------------------------------------------- */

static void found(void **state)
{
	(void)state;
	make();
	assert_int_equal(layout.walk.nheaps, 1);
	assert_int_equal(layout.walk.heaps[0].start, HI_CODE);
	assert_int_equal(layout.walk.heaps[0].end, HI_CODE + 0x1000);
	assert_int_equal(layout.walk.heaps[0].segments, image.segments);
	assert_int_equal(layout.walk.heaps[0].shift, HI_SHIFT);
	assert_int_equal(layout.walk.interpreter_start, HI_CODE);
	assert_int_equal(layout.walk.interpreter_end, HI_CODE + (8 << HI_SHIFT));
	assert_int_equal(layout.walk.block_head, 16);
	assert_int_equal(layout.walk.blob_frame_size, 24);
	assert_int_equal(layout.walk.blob_frame_complete, 28);
	assert_int_equal(layout.walk.blob_code, 16);
	assert_int_equal(layout.walk.nmethod_id, HI_NMETHOD_ID);
	assert_int_equal(layout.walk.nmethod_deopt, 48);
	assert_int_equal(layout.walk.nmethod_deopt_mh, 56);
	assert_int_equal(layout.walk.nmethod_original_pc, 68);
	assert_int_equal(layout.walk.frame_caller, -8);
	assert_int_equal(layout.walk.frame_method, -24);
	assert_int_equal(layout.walk.frame_bytecode, -64);
	assert_int_equal(layout.pc_size, 16);
	assert_int_equal(layout.has_lines, 4);
	assert_int_equal(layout.pool_size, HI_POOL_SIZE);
}

/* Without any one that is wanted, the machine is not known, and it is said which one it lacks. */
static void each_is_needed(void **state)
{
	size_t needed = 0;

	(void)state;
	for (size_t i = 0; i < hotspot_image_entries(); i++) {
		const char *field, *type = hotspot_image_entry(i, &field);
		char name[128];

		hotspot_image_init(&image);
		hotspot_image_hide(&image, i);
		enum vp_hotspot_found is = find();

		if (is == VP_HOTSPOT_FOUND)
			continue;
		needed++;
		snprintf(name, sizeof(name), "%s %s", type, field);
		assert_int_equal(is, VP_HOTSPOT_UNKNOWN);
		assert_string_equal(lacks, name);
	}
	assert_int_equal(needed, hotspot_image_entries() - 2); /* of two nothing is wanted */
}

/* It has just been loaded, or is being made. */
static void early(void **state)
{
	const struct {
		uint64_t at, value;
		size_t size;
	} rows[] = {
		{ image.heaps + HI_ARRAY_LENGTH, 0, 4 },
		{ image.heaps + HI_ARRAY_LENGTH, VP_HOTSPOT_HEAPS + 1, 4 },
		{ image.heaps + 16, 0, 8 },
		{ image.heap + HI_HEAP_MEMORY + HI_SPACE_LOW, 0, 8 },
		{ image.heap + HI_HEAP_MEMORY + HI_SPACE_LOW, HI_CODE + 0x1000, 8 },
		{ image.heap + 48 + HI_SPACE_LOW, 0, 8 },
		{ image.heap + HI_HEAP_SHIFT, 17, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		make();
		hotspot_image_put(&image, rows[i].at, rows[i].value, rows[i].size);
		assert_int_equal(find(), VP_HOTSPOT_EARLY);
	}
}

static void unreadable(void **state)
{
	uint64_t name;

	(void)state;
	make();
	image.hole = image.structs; /* the table */
	image.hole_end = image.structs + 1;
	assert_int_equal(find(), VP_HOTSPOT_MISSING);
	name = hotspot_image_get(&image, image.structs + 48 + 8); /* a name in it */
	image.hole = name;
	image.hole_end = name + 1;
	assert_int_equal(find(), VP_HOTSPOT_MISSING);
	image.hole = HI_BASE + image.file.symbols[VP_HOTSPOT_TYPES]; /* a variable */
	image.hole_end = image.hole + 1;
	assert_int_equal(find(), VP_HOTSPOT_MISSING);
}

/* Tables with sizes that can't be, or without an end. */
static void hostile_tables(void **state)
{
	static const uint64_t values[] = { 0, 1, 7, 41, 48, 256, 257, 1ull << 32, ~0ull };

	(void)state;
	for (unsigned s = 0; s < VP_HOTSPOT_NSYMBOLS; s++)
		for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
			hotspot_image_init(&image);
			hotspot_image_put(&image, HI_BASE + image.file.symbols[s], values[i], 8);
			(void)find(); /* it ends */
		}
	/* no entry is one without a name */
	hotspot_image_init(&image);
	hotspot_image_put(&image, HI_BASE + image.file.symbols[VP_HOTSPOT_STRUCT_SIZE], 0, 8);
	assert_int_equal(find(), VP_HOTSPOT_MISSING);
	hotspot_image_init(&image);
	for (uint64_t at = image.structs; at + 8 <= HI_BASE + HI_SIZE; at += 8)
		if (!hotspot_image_get(&image, at))
			hotspot_image_put(&image, at, 1, 8);
	assert_int_equal(find(), VP_HOTSPOT_MISSING);
}

/* --- names --------------------------------------------------------------------------------------------- */

static void text_is(uint64_t pc, const char *note, const char *want)
{
	struct ot_buf out;

	ot_buf_init(&out);
	assert_int_equal(vp_hotspot_text(&reader, &layout, pc, note, &out), want != NULL);
	if (want)
		assert_string_equal(ot_buf_str(&out), want);
	ot_buf_deinit(&out);
}

static void interpreted_is(uint64_t method, uint64_t index, const char *want)
{
	char note[HI_NOTE];

	hotspot_image_method_note(method, hotspot_image_bytecodes(&image, method) + index, note);
	text_is(HI_CODE + 0x20, note, want);
}

static void interpreted(void **state)
{
	char note[HI_NOTE];

	(void)state;
	make();
	interpreted_is(image.leaf, 0, "shop/Price.leaf(I)J (Price.java:10)");
	interpreted_is(image.leaf, 1, "shop/Price.leaf(I)J (Price.java:10)");
	interpreted_is(image.leaf, 5, "shop/Price.leaf(I)J (Price.java:12)");
	interpreted_is(image.native, 0, "java/lang/Thread.sleep(J)V (Thread.java)");
	/* what is none of its bytecodes: the frame is no frame yet */
	interpreted_is(image.leaf, 6, "Interpreter");
	hotspot_image_method_note(image.leaf, 0, note);
	text_is(HI_CODE + 0x20, note, "Interpreter");
	hotspot_image_method_note(0x1234, 0x1240, note);
	text_is(HI_CODE + 0x20, note, "Interpreter");
	/* a class that does not say its file */
	uint64_t hidden = hotspot_image_method(&image, "a/B$$Lambda$1+0x0800", "go", "()V", NULL, 2, NULL, 0);
	interpreted_is(hidden, 1, "a/B$$Lambda$1+0x0800.go()V");
}

/* A table with every form of entry. */
static void lines(void **state)
{
	static const uint8_t table[] = {
		0xff,       0,    180,                   /* 0: 90 */
		3 << 3 | 1,                              /* 3: 91 */
		0xff,       4,    3,                     /* 5: 89 */
		0xff,       0xc0, 0,    0xc8, 1,         /* 101: 0xc8 + 64 = 264 / 2 more, 221 */
		0xff,       1,    0,                     /* 100: the same */
		0xff,       0xff, 0xff, 0xff, 0xff, 0xff /* nonsense */
	};
	static const struct {
		unsigned index;
		const char *line;
	} rows[] = { { 0, ":90" },  { 2, ":90" },    { 3, ":91" },    { 4, ":91" },   { 5, ":89" },
		     { 99, ":89" }, { 100, ":221" }, { 101, ":221" }, { 150, ":221" } };
	char want[64];

	(void)state;
	make();
	uint64_t method = hotspot_image_method(&image, "A", "f", "()V", "A.java", 200, table, sizeof(table));

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		snprintf(want, sizeof(want), "A.f()V (A.java%s)", rows[i].line);
		interpreted_is(method, rows[i].index, want);
	}
	method =
	    hotspot_image_method(&image, "A", "f", "()V", "A.java", 9, (const uint8_t[]){ 4 << 3 | 7 }, 1);
	interpreted_is(method, 3, "A.f()V (A.java)"); /* before its first line */
	interpreted_is(method, 4, "A.f()V (A.java:7)");
	method =
	    hotspot_image_method(&image, "A", "f", "()V", "A.java", 9, (const uint8_t[]){ 0xff, 0, 1 }, 3);
	interpreted_is(method, 3, "A.f()V (A.java)"); /* a line that can't be */
}

/* Names of any length and bytes; ones that can't be read. */
static void names(void **state)
{
	char name[400], want[512];
	uint64_t method, pool;

	(void)state;
	make();
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	method = hotspot_image_method(&image, "A", name, "()V", NULL, 2, NULL, 0);
	snprintf(want, sizeof(want), "A.%.300s?()V", name);
	interpreted_is(method, 0, want);
	method = hotspot_image_method(&image, "A\n\x1b", "\x7f\xc3\xa4", "", NULL, 2, NULL, 0);
	interpreted_is(method, 0, "A\?\?.?\xc3\xa4");
	pool = hotspot_image_get(&image, hotspot_image_get(&image, method + HI_METHOD_CONST) + HI_CONST_POOL);
	hotspot_image_put(&image, pool + HI_POOL_SIZE + 8, 0x1234, 8); /* its name */
	interpreted_is(method, 0, NULL);
	hotspot_image_put(&image, pool + HI_POOL_SIZE + 8, 0, 8);
	interpreted_is(method, 0, NULL);
	hotspot_image_put(&image, pool + HI_POOL_HOLDER, ~7ull, 8); /* its class */
	interpreted_is(method, 0, NULL);
}

static void code_is(uint64_t pc, uint64_t id, const char *want)
{
	char note[HI_NOTE];

	hotspot_image_code_note(id, note);
	text_is(pc, note, want);
}

#define LEAF  "shop/Price.leaf(I)J* (Price.java:12)"
#define OUTER "shop/Order.outer()V* (Order.java:20)"

static void compiled(void **state)
{
	(void)state;
	make();
	code_is(image.code + HI_BOTH, HI_ID, LEAF "\n" OUTER);
	code_is(image.code + 1, HI_ID, LEAF "\n" OUTER); /* the next record's */
	code_is(image.code + HI_ONE, HI_ID, OUTER);
	code_is(image.code + HI_ONE + 1, HI_ID,
		"shop/Order.outer()V* (Order.java)");   /* behind the last one */
	code_is(image.code + HI_BOTH, HI_ID + 1, NULL); /* compiled again meanwhile */
	code_is(image.wrapper + 0x80, HI_ID + 1, "java/lang/Thread.sleep(J)V* (Thread.java)");
	code_is(image.stub + 0x40, 12345, "StubRoutines (1)");
	code_is(HI_CODE + 0x10, 0, "Interpreter");
	code_is(HI_CODE + (30 << HI_SHIFT), 0, NULL); /* where nothing is */
	code_is(HI_CODE + 0x1001, 0, NULL);
	code_is(0x1234, 0, NULL);
}

static void not_notes(void **state)
{
	(void)state;
	make();
	text_is(image.code, "", NULL);
	text_is(image.code, "\x01", NULL);
	text_is(image.code, "\x01\x81", NULL);
	text_is(image.code, "\x02text", NULL);
	text_is(image.code, "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", NULL);
	text_is(image.code, "\x03\x81", NULL);
	text_is(image.code, "@a", NULL);
}

/* Scopes that lead back, records without an end, a chain of methods that are none. */
static void hostile_code(void **state)
{
	(void)state;
	make();
	hotspot_image_put(&image, image.scopes + 4, 4, 1); /* is its own outer one */
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	hotspot_image_put(&image, image.scopes + 4, 5, 1);
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	make();
	hotspot_image_put(&image, image.scopes + 5, 0, 1); /* no method */
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	hotspot_image_put(&image, image.scopes + 5, 100, 1);
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	make();
	hotspot_image_put(&image, image.compiled + HI_NMETHOD_SCOPES, 0, 8);
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	make();
	hotspot_image_put(&image, image.compiled + HI_NMETHOD_PCS_END, UINT32_MAX, 4); /* the method alone */
	code_is(image.code + HI_BOTH, HI_ID, "shop/Order.outer()V* (Order.java)");
	hotspot_image_put(&image, image.compiled + HI_NMETHOD_PCS_END, 0, 4);
	code_is(image.code + HI_BOTH, HI_ID, "shop/Order.outer()V* (Order.java)");
	hotspot_image_put(&image, image.compiled + HI_NMETHOD_METHOD, 0, 8);
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	hotspot_image_put(&image, image.compiled + HI_BLOB_NAME, 0x1234, 8);
	code_is(image.code + HI_BOTH, HI_ID, NULL);
	make();
	memset(image.bytes + (image.segments - HI_BASE), 1, 0x20); /* back before the beginning */
	code_is(image.code + HI_BOTH, HI_ID, NULL);
}

/* A chain of scopes that is longer than any real one: so many lines. */
static void many_scopes(void **state)
{
	struct ot_buf out;
	char note[HI_NOTE];
	unsigned n = 1;

	(void)state;
	make();
	for (unsigned i = 0; i < 42; i++) {
		hotspot_image_put(&image, image.scopes + 1 + 3 * i, i ? 3 * i - 2 : 0, 1);
		hotspot_image_put(&image, image.scopes + 2 + 3 * i, 1, 1);
		hotspot_image_put(&image, image.scopes + 3 + 3 * i, 1, 1);
	}
	hotspot_image_put(&image, image.compiled + 0x100 + 16 + 8, 1 + 3 * 41, 4);
	ot_buf_init(&out);
	hotspot_image_code_note(HI_ID, note);
	assert_true(vp_hotspot_text(&reader, &layout, image.code + HI_BOTH, note, &out));
	for (const char *at = ot_buf_str(&out); (at = strchr(at, '\n')); at++)
		n++;
	assert_int_equal(n, 32);
	ot_buf_deinit(&out);
}

/* Whatever the bytes are, reading ends, and no name has a line's end. */
static void damaged(void **state)
{
	char note[HI_NOTE];
	unsigned named = 0;

	(void)state;
	srandom(1);
	for (unsigned round = 0; round < 3000; round++) {
		struct ot_buf out;

		hotspot_image_init(&image);
		for (unsigned i = 0; i < 8; i++)
			image.bytes[random() % HI_SIZE] = (uint8_t)random();
		for (unsigned i = 0; i < 8; i++) /* where most of it is */
			image.bytes[(image.compiled - HI_BASE) + (unsigned)random() % 0x200] =
			    (uint8_t)random();
		if (find() != VP_HOTSPOT_FOUND)
			continue;
		ot_buf_init(&out);
		hotspot_image_code_note(HI_ID, note);
		if (vp_hotspot_text(&reader, &layout, image.code + HI_BOTH, note, &out)) {
			named++;
			assert_true(out.len < 64 * 1024);
			for (const char *c = ot_buf_str(&out); *c; c++)
				assert_true((uint8_t)*c >= ' ' || *c == '\n');
		}
		ot_buf_deinit(&out);
	}
	assert_in_range(named, 100, 2999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(found),      cmocka_unit_test(each_is_needed), cmocka_unit_test(early),
		cmocka_unit_test(unreadable), cmocka_unit_test(hostile_tables), cmocka_unit_test(interpreted),
		cmocka_unit_test(lines),      cmocka_unit_test(names),          cmocka_unit_test(compiled),
		cmocka_unit_test(not_notes),  cmocka_unit_test(hostile_code),   cmocka_unit_test(many_scopes),
		cmocka_unit_test(damaged),
	};

	hotspot_image_init(&image);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
