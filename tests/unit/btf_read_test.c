/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/btf*: good blobs, split ones, and every way of lying that the check knows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "vmm-probe/guest/btf.h"

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

/* Ids of the types in the usual blob. */
struct ids {
	uint32_t int_, ulong, char_, comm, inner, anon, task, ptr, cycle, fn, proto, en, en64, fwd, flex;
};

/*
 * struct inner { int a; unsigned long sum; };
 * struct task { int pid; union { int x; struct inner deep; }; char comm[16]; struct inner se;
 *               int flag_a : 3; int flag_b : 5; struct task *next; };
 */
static struct ids usual(struct btf_builder *b)
{
	struct ids i;

	btf_builder_init(b, NULL);
	i.int_ = btf_add_int(b, "int", 4, BTF_INT_SIGNED);
	i.ulong = btf_add_int(b, "long unsigned int", 8, 0);
	i.char_ = btf_add_int(b, "char", 1, BTF_INT_SIGNED);
	i.comm = btf_add_array(b, i.char_, 16);
	i.inner = btf_add(b, "inner", BTF_KIND_STRUCT, 2, 0, 16);
	btf_add_member(b, "a", i.int_, 0);
	btf_add_member(b, "sum", i.ulong, 64);
	i.anon = btf_add(b, "", BTF_KIND_UNION, 2, 0, 16);
	btf_add_member(b, "x", i.int_, 0);
	btf_add_member(b, "deep", i.inner, 0);
	i.task = btf_add(b, "task", BTF_KIND_STRUCT, 7, 1, 72);
	i.ptr = i.task + 1;
	btf_add_member(b, "pid", i.int_, 0);
	btf_add_member(b, "", i.anon, 64);
	btf_add_member(b, "comm", i.comm, 192);
	btf_add_member(b, "se", i.inner, 320);
	btf_add_member(b, "flag_a", i.int_, 3u << 24 | 448);
	btf_add_member(b, "flag_b", i.int_, 5u << 24 | 451);
	btf_add_member(b, "next", i.ptr, 512);
	btf_add(b, "", BTF_KIND_PTR, 0, 0, i.task);
	i.cycle = btf_add(b, "cycle", BTF_KIND_TYPEDEF, 0, 0, b->next_id + 1);
	btf_add(b, "cycle2", BTF_KIND_TYPEDEF, 0, 0, i.cycle);
	i.proto = btf_add(b, "", BTF_KIND_FUNC_PROTO, 2, 0, i.int_);
	btf_add_words(b, 4, btf_add_string(b, "t"), i.ptr, btf_add_string(b, "n"), i.ulong);
	i.fn = btf_add(b, "do_it", BTF_KIND_FUNC, 0, 0, i.proto);
	i.en = btf_add(b, "colour", BTF_KIND_ENUM, 2, 1, 4);
	btf_add_words(b, 4, btf_add_string(b, "RED"), 7u, btf_add_string(b, "NONE"), (uint32_t)-1);
	i.en64 = btf_add(b, "big", BTF_KIND_ENUM64, 1, 0, 8);
	btf_add_words(b, 3, btf_add_string(b, "HUGE"), 5u, 1u);
	i.fwd = btf_add(b, "task", BTF_KIND_FWD, 0, 0, 0);
	i.flex = btf_add_array(b, i.int_, 0);
	return i;
}

static struct vp_btf *make(const struct btf_builder *b, const struct vp_btf *base)
{
	struct ot_buf blob;
	struct vp_btf *btf;

	ot_buf_init(&blob);
	btf_finish(b, &blob);
	assert_ok(vp_btf_create(blob.data, blob.len, base, &btf));
	ot_buf_deinit(&blob);
	return btf;
}

static void members_are_found_by_path(void **state)
{
	struct btf_builder b;
	uint32_t off = 0, bits = 99;

	(void)state;
	usual(&b);
	struct vp_btf *btf = make(&b, NULL);

	assert_true(vp_btf_member_offset(btf, "task", "comm", &off, &bits));
	assert_int_equal(off, 24);
	assert_int_equal(bits, 0);
	assert_true(vp_btf_member_offset(btf, "task", "se.sum", &off, NULL));
	assert_int_equal(off, 48);
	assert_true(vp_btf_member_offset(btf, "task", "deep.sum", &off, NULL)); /* in an anonymous union */
	assert_int_equal(off, 16);
	assert_true(vp_btf_member_offset(btf, "task", "flag_b", &off, &bits));
	assert_int_equal(off, 56);
	assert_int_equal(bits, 5);
	assert_false(vp_btf_member_offset(btf, "task", "nope", &off, NULL));
	assert_false(vp_btf_member_offset(btf, "task", "pid.x", &off, NULL));
	assert_false(vp_btf_member_offset(btf, "task", "se.", &off, NULL));
	assert_false(vp_btf_member_offset(btf, "task", "", &off, NULL));
	assert_false(vp_btf_member_offset(btf, "tas", "pid", &off, NULL));
	assert_int_equal(vp_btf_sizeof(btf, "task"), 72);
	assert_int_equal(vp_btf_sizeof(btf, "nope"), 0);
	vp_btf_destroy(btf);
	btf_builder_deinit(&b);
}

static void names_have_spaces(void **state)
{
	struct btf_builder b;
	int64_t value = 0;
	uint32_t type = 0;

	(void)state;
	struct ids i = usual(&b);
	struct vp_btf *btf = make(&b, NULL);

	assert_int_equal(vp_btf_find(btf, VP_BTF_STRUCT, "task"), i.task);
	assert_int_equal(vp_btf_find(btf, VP_BTF_UNION, "task"), 0);
	assert_int_equal(vp_btf_find(btf, VP_BTF_FUNC, "do_it"), i.fn);
	assert_int_equal(vp_btf_find(btf, VP_BTF_TYPE, "int"), i.int_);
	assert_true(vp_btf_enumerator(btf, "NONE", &type, &value));
	assert_int_equal(type, i.en);
	assert_int_equal(value, -1);
	assert_true(vp_btf_enumerator(btf, "HUGE", &type, &value));
	assert_int_equal(type, i.en64);
	assert_true(value == 0x100000005);
	assert_false(vp_btf_enumerator(btf, "red", &type, &value));
	vp_btf_destroy(btf);
	btf_builder_deinit(&b);
}

static void cycles_end(void **state)
{
	struct btf_builder b;
	uint64_t size;
	uint32_t off;

	(void)state;
	struct ids i = usual(&b);
	/* A struct that contains itself, many times, without a name: a tree without end. */
	uint32_t self = btf_add(&b, "self", BTF_KIND_STRUCT, 4, 0, 64);

	for (int k = 0; k < 4; k++)
		btf_add_member(&b, "", self, 0);
	/* An array of itself. */
	uint32_t array = btf_add_array(&b, b.next_id, 0xffffffff);
	struct vp_btf *btf = make(&b, NULL);

	assert_int_equal(vp_btf_resolve(btf, i.cycle), 0);
	assert_false(vp_btf_size(btf, i.cycle, &size));
	assert_false(vp_btf_size(btf, array, &size));
	assert_false(vp_btf_member_offset(btf, "self", "deep", &off, NULL));
	assert_int_equal(vp_btf_resolve(btf, 0), 0);
	assert_int_equal(vp_btf_resolve(btf, 1000000), 0);
	vp_btf_destroy(btf);
	btf_builder_deinit(&b);
}

static void a_module_goes_on_where_the_kernel_ends(void **state)
{
	struct btf_builder b, m;
	uint32_t off;

	(void)state;
	struct ids i = usual(&b);
	struct vp_btf *base = make(&b, NULL);

	btf_builder_init(&m, &b);
	uint32_t own = btf_add(&m, "mod_thing", BTF_KIND_STRUCT, 2, 0, 88);
	btf_add_member(&m, "n", i.int_, 0);
	btf_add_member(&m, "task", i.task, 128);
	struct vp_btf *btf = make(&m, base);

	assert_int_equal(vp_btf_first(btf), vp_btf_end(base));
	assert_int_equal(vp_btf_find(btf, VP_BTF_STRUCT, "mod_thing"), own);
	assert_int_equal(vp_btf_find(base, VP_BTF_STRUCT, "mod_thing"), 0);
	assert_int_equal(vp_btf_find(btf, VP_BTF_STRUCT, "task"), i.task);
	assert_true(vp_btf_member_offset(btf, "mod_thing", "task.comm", &off, NULL));
	assert_int_equal(off, 40);
	assert_string_equal(vp_btf_str(btf, vp_btf_type(btf, own)->name_off), "mod_thing");
	vp_btf_destroy(btf);
	vp_btf_destroy(base);
	btf_builder_deinit(&m);
	btf_builder_deinit(&b);
}

static void refused(const void *data, size_t size, enum ot_err_code code, const char *what)
{
	struct vp_btf *btf = NULL;
	struct ot_err *err = vp_btf_create(data, size, NULL, &btf);

	if (!err)
		fail_msg("accepted: %s", what);
	if (ot_err_code(err) != code)
		fail_msg("%s: code %d: %s", what, (int)ot_err_code(err), ot_err_message(err));
	ot_err_destroy(err);
	assert_null(btf);
}

/* A header with fields behind the ones we know, and a record with more parts than 16 bits count. */
static void newer_forms_are_read(void **state)
{
	enum { PARTS = 0x10003 };
	struct btf_builder b;
	struct ot_buf blob, longer;
	struct vp_btf_header h;
	struct vp_btf *btf;
	static const char more[8] = { 0 };
	int64_t value = 0;
	uint32_t type = 0;

	(void)state;
	btf_builder_init(&b, NULL);
	uint32_t id = btf_add(&b, "many", BTF_KIND_ENUM, PARTS, 0, 4);
	for (uint32_t i = 0; i < PARTS; i++)
		btf_add_words(&b, 2, i + 1 == PARTS ? btf_add_string(&b, "LAST") : 0, i);
	ot_buf_init(&blob);
	ot_buf_init(&longer);
	btf_finish(&b, &blob);
	memcpy(&h, blob.data, sizeof(h));
	h.hdr_len += sizeof(more);
	ot_buf_append(&longer, &h, sizeof(h));
	ot_buf_append(&longer, more, sizeof(more));
	ot_buf_append(&longer, blob.data + sizeof(h), blob.len - sizeof(h));
	assert_ok(vp_btf_create(longer.data, longer.len, NULL, &btf));
	assert_int_equal(vp_btf_find(btf, VP_BTF_ENUM, "many"), id);
	assert_true(vp_btf_enumerator(btf, "LAST", &type, &value));
	assert_int_equal(type, id);
	assert_int_equal(value, PARTS - 1);
	vp_btf_destroy(btf);
	ot_buf_deinit(&longer);
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void every_truncation_is_refused(void **state)
{
	struct btf_builder b;
	struct ot_buf blob;

	(void)state;
	usual(&b);
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	for (size_t n = 0; n < blob.len; n++) {
		/* Exactly so large a block, so that a sanitizer sees any byte read behind it. */
		char *cut = malloc(n ? n : 1);

		memcpy(cut, blob.data, n);
		refused(cut, n, OT_ERR_BAD_DATA, "cut off");
		free(cut);
	}
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

/* Any one byte changed: refused or not, nothing may be read outside, and what was accepted can be asked. */
static void any_changed_byte_is_survived(void **state)
{
	struct btf_builder b;
	struct ot_buf blob;

	(void)state;
	usual(&b);
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	for (size_t n = 0; n < blob.len * 3; n++) {
		static const uint8_t flips[] = { 0xff, 0x01, 0x80 };
		struct vp_btf *btf = NULL;
		char *copy = malloc(blob.len);
		uint64_t size;
		uint32_t off;

		memcpy(copy, blob.data, blob.len);
		copy[n / 3] ^= (char)flips[n % 3];
		struct ot_err *err = vp_btf_create(copy, blob.len, NULL, &btf);

		free(copy);
		for (uint32_t id = 0; !err && id < vp_btf_end(btf) + 2; id++)
			vp_btf_size(btf, vp_btf_resolve(btf, id), &size);
		if (!err)
			vp_btf_member_offset(btf, "task", "deep.sum", &off, NULL);
		ot_err_destroy(err);
		vp_btf_destroy(btf);
	}
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void bad_header(size_t offset, uint32_t value, size_t bytes, enum ot_err_code code, const char *what)
{
	struct btf_builder b;
	struct ot_buf blob;

	usual(&b);
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	memcpy(blob.data + offset, &value, bytes);
	refused(blob.data, blob.len, code, what);
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void headers_that_lie_are_refused(void **state)
{
	(void)state;
	bad_header(0, 0x1234, 2, OT_ERR_BAD_DATA, "magic");
	bad_header(2, 2, 1, OT_ERR_UNSUPPORTED, "version");
	bad_header(3, 1, 1, OT_ERR_UNSUPPORTED, "flags");
	bad_header(4, 8, 4, OT_ERR_BAD_DATA, "short header");
	bad_header(4, 0xffffffff, 4, OT_ERR_BAD_DATA, "long header");
	bad_header(8, 0xfffffffc, 4, OT_ERR_BAD_DATA, "types far away");
	bad_header(8, 2, 4, OT_ERR_BAD_DATA, "types misaligned");
	bad_header(12, 0xffffffff, 4, OT_ERR_BAD_DATA, "many types");
	bad_header(16, 0xffffffff, 4, OT_ERR_BAD_DATA, "strings far away");
	bad_header(20, 0xffffffff, 4, OT_ERR_BAD_DATA, "many strings");
	bad_header(20, 3, 4, OT_ERR_BAD_DATA, "strings without end");
	bad_header(20, 0, 4, OT_ERR_BAD_DATA, "no strings");
}

/* One more record, and the code it is refused with. */
static void bad_record(void (*add)(struct btf_builder *b, struct ids i), enum ot_err_code code,
		       const char *what)
{
	struct btf_builder b;
	struct ot_buf blob;

	add(&b, usual(&b));
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	refused(blob.data, blob.len, code, what);
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void unknown_kind(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "x", 25, 0, 0, 0);
}

static void kind_zero(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "x", 0, 0, 0, 0);
}

static void pointer_to_nothing(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "", BTF_KIND_PTR, 0, 0, b->next_id + 1);
}

static void name_outside(struct btf_builder *b, struct ids i)
{
	uint32_t off = 1u << 30;

	(void)i;
	btf_add(b, "", BTF_KIND_PTR, 0, 0, 0);
	memcpy(b->types.data + b->types.len - 12, &off, 4);
}

static void member_outside(struct btf_builder *b, struct ids i)
{
	btf_add(b, "s", BTF_KIND_STRUCT, 1, 0, 8);
	btf_add_member(b, "m", i.int_, 65);
}

static void bit_field_outside(struct btf_builder *b, struct ids i)
{
	btf_add(b, "s", BTF_KIND_STRUCT, 1, 1, 4);
	btf_add_member(b, "m", i.int_, 8u << 24 | 28);
}

static void member_of_void(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "s", BTF_KIND_STRUCT, 1, 0, 8);
	btf_add_member(b, "m", 0, 0);
}

static void integer_without_bits(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "i", BTF_KIND_INT, 0, 0, 4);
	btf_add_words(b, 1, 0u);
}

static void integer_wider_than_itself(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "i", BTF_KIND_INT, 0, 0, 4);
	btf_add_words(b, 1, 33u);
}

static void function_of_an_integer(struct btf_builder *b, struct ids i)
{
	btf_add(b, "f", BTF_KIND_FUNC, 0, 0, i.int_);
}

static void function_of_void(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "f", BTF_KIND_FUNC, 0, 0, 0);
}

static void enum_of_three_bytes(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "e", BTF_KIND_ENUM, 0, 0, 3);
}

static void array_of_nothing(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add_array(b, 1u << 20, 4);
}

static void members_cut_off(struct btf_builder *b, struct ids i)
{
	(void)i;
	btf_add(b, "s", BTF_KIND_STRUCT, 65535, 0, 8);
}

static void records_that_lie_are_refused(void **state)
{
	(void)state;
	bad_record(unknown_kind, OT_ERR_UNSUPPORTED, "unknown kind");
	bad_record(kind_zero, OT_ERR_UNSUPPORTED, "kind 0");
	bad_record(pointer_to_nothing, OT_ERR_BAD_DATA, "pointer to nothing");
	bad_record(name_outside, OT_ERR_BAD_DATA, "name outside");
	bad_record(member_outside, OT_ERR_BAD_DATA, "member outside");
	bad_record(bit_field_outside, OT_ERR_BAD_DATA, "bit-field outside");
	bad_record(member_of_void, OT_ERR_BAD_DATA, "member of void");
	bad_record(integer_without_bits, OT_ERR_BAD_DATA, "integer without bits");
	bad_record(integer_wider_than_itself, OT_ERR_BAD_DATA, "integer wider than itself");
	bad_record(function_of_an_integer, OT_ERR_BAD_DATA, "function of an integer");
	bad_record(function_of_void, OT_ERR_BAD_DATA, "function of void");
	bad_record(enum_of_three_bytes, OT_ERR_BAD_DATA, "enum of three bytes");
	bad_record(array_of_nothing, OT_ERR_BAD_DATA, "array of nothing");
	bad_record(members_cut_off, OT_ERR_BAD_DATA, "members cut off");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_found_by_path),
		cmocka_unit_test(names_have_spaces),
		cmocka_unit_test(cycles_end),
		cmocka_unit_test(a_module_goes_on_where_the_kernel_ends),
		cmocka_unit_test(newer_forms_are_read),
		cmocka_unit_test(every_truncation_is_refused),
		cmocka_unit_test(any_changed_byte_is_survived),
		cmocka_unit_test(headers_that_lie_are_refused),
		cmocka_unit_test(records_that_lie_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
