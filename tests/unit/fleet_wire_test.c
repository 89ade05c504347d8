/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fleet/wire: each message is read as it was written, no shortened one is, and values at their bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/fleet_messages.h"
#include "tests/unit/nomem.h"

/* Read data, which ends where memory does, so that a sanitizer sees an access behind it. */
static struct ot_err *read_exactly(const struct fleet_kind *k, const void *data, size_t len,
				   struct ot_buf *again)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct ot_arena arena;

	assert_non_null(copy);
	if (len)
		memcpy(copy, data, len);
	ot_arena_init(&arena);
	ot_buf_clear(again);

	struct ot_err *err = k->rewrite(copy, len, &arena, again);

	ot_arena_deinit(&arena);
	free(copy);
	return err;
}

static void assert_bad(struct ot_err *err, unsigned kind)
{
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	assert_non_null(strstr(ot_err_message(err), fl_kind_name(kind)));
	ot_err_destroy(err);
}

static void test_round_trips(void **state)
{
	(void)state;
	for (size_t i = 0; i < FLEET_KINDS; i++) {
		struct ot_buf out = { 0 }, again = { 0 };

		fleet_kinds[i].write(&out);
		assert_false(out.failed);
		assert_null(read_exactly(&fleet_kinds[i], out.data, out.len, &again));
		assert_int_equal(again.len, out.len);
		assert_memory_equal(again.data, out.data, out.len);
		ot_buf_deinit(&out);
		ot_buf_deinit(&again);
	}
}

/* A shortened list that ends behind an element is a list; every other cut is refused, and so is a byte more.
 */
static void test_truncations(void **state)
{
	size_t whole = 0;

	(void)state;
	for (size_t i = 0; i < FLEET_KINDS; i++) {
		struct ot_buf out = { 0 }, again = { 0 };

		fleet_kinds[i].write(&out);
		for (size_t len = 0; len < out.len; len++) {
			struct ot_err *err = read_exactly(&fleet_kinds[i], out.data, len, &again);

			if (!err) {
				whole++;
				assert_int_equal(again.len, len);
			} else {
				assert_bad(err, fleet_kinds[i].kind);
			}
		}
		ot_buf_putc(&out, 0);
		assert_bad(read_exactly(&fleet_kinds[i], out.data, out.len, &again), fleet_kinds[i].kind);
		ot_buf_deinit(&out);
		ot_buf_deinit(&again);
	}
	/* Each of six lists without an element (RECORDS: with its clock), and with the first of two. */
	assert_int_equal(whole, 6 + 6);
}

static void test_members(void **state)
{
	struct ot_buf out = { 0 };
	struct ot_arena arena;
	struct fl_run r;
	struct fl_ended e;

	(void)state;
	ot_arena_init(&arena);
	fl_put_run(&out, &fleet_run);
	assert_null(fl_get_run(out.data, out.len, &arena, &r));
	assert_string_equal(r.guests, "web*");
	assert_int_equal(r.nsources, 2);
	assert_true(r.sources[0].is_script && !r.sources[1].is_script);
	assert_int_equal(r.sources[1].spec, 5);
	assert_string_equal(r.sources[0].name, "count.d");
	assert_int_equal(r.sources[1].text.len, 11);
	/* Borrowed from the message. */
	assert_true((const char *)r.sources[0].text.data > out.data &&
		    (const char *)r.sources[0].text.data < out.data + out.len);
	assert_null(r.options[0].value);
	assert_string_equal(r.options[1].value, "4m");
	assert_string_equal(r.options[2].value, "");
	assert_string_equal(r.args[2], "web01");

	ot_buf_clear(&out);
	fl_put_ended(&out, &fleet_ended);
	assert_null(fl_get_ended(out.data, out.len, &arena, &e));
	assert_int_equal(e.status, INT32_MIN);
	assert_true(e.exited && !e.failed);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
}

/* Little-endian, wherever this runs. */
static void test_bytes(void **state)
{
	static const uint8_t expected[] = { 4, 3, 2, 1, 3, 0, 0, 0, 'a', 'b', 'c' };
	struct ot_buf out = { 0 };

	(void)state;
	fl_put_u32(&out, 0x01020304);
	fl_put_text(&out, "abc");
	assert_int_equal(out.len, sizeof(expected));
	assert_memory_equal(out.data, expected, sizeof(expected));
	ot_buf_deinit(&out);
}

/* A text may have as many bytes as its reader takes, and no more; nor a NUL. */
static void test_texts(void **state)
{
	struct ot_buf out = { 0 };
	struct ot_arena arena;

	(void)state;
	ot_arena_init(&arena);
	fl_put_text(&out, "12345678");
	struct fl_reader r = fl_reader_of(out.data, out.len);
	assert_string_equal(fl_get_text(&r, 8, &arena), "12345678");
	assert_false(r.failed);
	r = fl_reader_of(out.data, out.len);
	assert_string_equal(fl_get_text(&r, 7, &arena), "");
	assert_true(r.failed);
	assert_int_equal(fl_get_u64(&r), 0);

	out.data[6] = '\0';
	r = fl_reader_of(out.data, out.len);
	assert_string_equal(fl_get_text(&r, 8, &arena), "");
	assert_true(r.failed);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
}

/* A sentence that is too long is cut where a character ends; the message is whole. */
static void test_long_sentences(void **state)
{
	char text[FL_TEXT_MAX + 100];
	struct fl_refused m = { FL_REASON_OTHER, text }, got;
	struct ot_buf out = { 0 };
	struct ot_arena arena;

	(void)state;
	ot_arena_init(&arena);
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	memcpy(text + FL_TEXT_MAX - 1, "\xc3\xa4", 2);
	fl_put_refused(&out, &m);
	assert_null(fl_get_refused(out.data, out.len, &arena, &got));
	assert_int_equal(strlen(got.text), FL_TEXT_MAX - 1);

	/* Of bytes that are no UTF-8 as many are left as fit, but for three at most. */
	memset(text, 0x80, sizeof(text) - 1);
	ot_buf_clear(&out);
	fl_put_refused(&out, &m);
	assert_null(fl_get_refused(out.data, out.len, &arena, &got));
	assert_in_range(strlen(got.text), FL_TEXT_MAX - 4, FL_TEXT_MAX);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
}

/* How RUN with so many of each is read. */
static struct ot_err *run_of(uint32_t nsources, uint32_t noptions, uint32_t nargs, size_t text)
{
	struct ot_buf out = { 0 };
	struct ot_arena arena;
	struct fl_run r, big = { .guests = "*", .nsources = nsources, .noptions = noptions, .nargs = nargs };
	struct fl_source *s = calloc(nsources + 1, sizeof(*s));
	struct fl_option *o = calloc(noptions + 1, sizeof(*o));
	const char **a = calloc(nargs + 1, sizeof(*a));
	uint8_t *d = calloc(1, text + 1);

	assert_true(s && o && a && d);
	for (uint32_t i = 0; i < nsources; i++)
		s[i] = (struct fl_source){ .name = "", .text = { d, (uint32_t)text } };
	for (uint32_t i = 0; i < noptions; i++)
		o[i] = (struct fl_option){ "defaultargs", NULL };
	for (uint32_t i = 0; i < nargs; i++)
		a[i] = "1";
	big.sources = s;
	big.options = o;
	big.args = a;
	fl_put_run(&out, &big);
	assert_false(out.failed);
	ot_arena_init(&arena);

	struct ot_err *err = fl_get_run(out.data, out.len, &arena, &r);

	if (!err)
		assert_true(r.nsources == nsources && r.noptions == noptions && r.nargs == nargs);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
	free(s);
	free(o);
	free(a);
	free(d);
	return err;
}

static void test_bounds_of_run(void **state)
{
	(void)state;
	assert_null(run_of(FL_TEXTS_MAX, FL_STRINGS_MAX, FL_STRINGS_MAX, 10));
	assert_null(run_of(1, 0, 0, FL_SOURCE_MAX));
	assert_bad(run_of(FL_TEXTS_MAX + 1, 0, 0, 10), FL_RUN);
	assert_bad(run_of(0, FL_STRINGS_MAX + 1, 0, 10), FL_RUN);
	assert_bad(run_of(0, 0, FL_STRINGS_MAX + 1, 10), FL_RUN);
	assert_bad(run_of(1, 0, 0, FL_SOURCE_MAX + 1), FL_RUN);
}

/* A count or a length that promises more than the message has costs no memory. */
static void test_promises(void **state)
{
	struct ot_buf out = { 0 };
	struct ot_arena arena;
	struct fl_program p;

	(void)state;
	ot_arena_init(&arena);
	fl_put_u32(&out, UINT32_MAX);
	ot_buf_zero(&out, 100);
	nomem_count();
	assert_bad(fl_get_program(out.data, out.len, &arena, &p), FL_PROGRAM);
	struct fl_reader r = fl_reader_of(out.data, out.len);
	assert_string_equal(fl_get_text(&r, FL_TEXT_MAX, &arena), "");
	assert_true(r.failed && nomem_most() < 1000);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
}

/* What is neither true nor false; words that are not whole; members of another protocol's HELLO. */
static void test_values(void **state)
{
	struct ot_buf out = { 0 };
	struct ot_arena arena;
	struct fl_say s;
	struct fl_hello h = fleet_hello;
	struct fl_aggregate a = { .words = { (const uint8_t *)"123456789", 9 } };

	(void)state;
	ot_arena_init(&arena);
	fl_put_say(&out, &fleet_say);
	out.data[0] = 2;
	assert_bad(fl_get_say(out.data, out.len, &arena, &s), FL_SAY);

	ot_buf_clear(&out);
	fl_put_aggregate(&out, &a);
	struct fl_reader r = fl_reader_of(out.data, out.len);
	assert_false(fl_next_aggregate(&r, &arena, &a));
	assert_bad(fl_reader_end(&r, FL_AGGREGATES), FL_AGGREGATES);

	h.protocol = FL_PROTOCOL + 1;
	ot_buf_clear(&out);
	fl_put_hello(&out, &h);
	assert_null(fl_get_hello(out.data, out.len - 1, &arena, &h));
	assert_int_equal(h.protocol, FL_PROTOCOL + 1);
	assert_string_equal(h.name, "");
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
}

/* Members, kinds and keys of a merger's messages that there are not. */
static void test_bounds_of_members(void **state)
{
	struct ot_buf out = { 0 };
	struct ot_arena arena;
	struct fl_member m[6], got;

	(void)state;
	ot_arena_init(&arena);
	for (size_t i = 0; i < OT_ARRAY_SIZE(m); i++)
		m[i] = fleet_member;
	m[1].member = FL_MEMBERS_MAX;
	m[2].key.len--;
	m[3].key.len = 0;
	m[4].ninvitations = 0;
	m[5].ninvitations = FL_INVITATIONS_MAX; /* and a count of one more below */
	for (size_t i = 0; i < OT_ARRAY_SIZE(m); i++) {
		struct ot_err *err;

		ot_buf_clear(&out);
		fl_put_member(&out, &m[i]);
		if (i == 5) /* behind number, name, key and RUN */
			out.data[4 + 4 + 3 + 4 + 32 + 4 + 16]++;
		err = fl_get_member(out.data, out.len, &arena, &got);
		if (i)
			assert_bad(err, FL_MEMBER);
		else
			assert_null(err);
	}
	assert_int_equal(got.ninvitations, 2);
	assert_memory_equal(got.invitations[0].data, fleet_member.invitations[0].data, 7);
	ot_arena_deinit(&arena);
	ot_buf_deinit(&out);
}

static struct ot_err *of_kind(uint32_t member, uint32_t kind)
{
	struct fl_of m = fleet_of, got;
	struct ot_buf out = { 0 };

	m.member = member;
	m.kind = kind;
	fl_put_of(&out, &m);
	struct ot_err *err = fl_get_of(out.data, out.len, NULL, &got);

	if (!err)
		assert_true(got.member == member && got.kind == kind && got.body.len == 16);
	ot_buf_deinit(&out);
	return err;
}

/* What is a merger's own is of no member. */
static void test_kinds_of_members(void **state)
{
	(void)state;
	for (uint32_t kind = FL_HELLO; kind <= FL_ENDED; kind++)
		assert_null(of_kind(FL_MEMBERS_MAX - 1, kind));
	for (uint32_t kind = FL_MEMBER; kind <= FL_GONE + 1; kind++)
		assert_bad(of_kind(0, kind), FL_OF);
	assert_bad(of_kind(0, 0), FL_OF);
	assert_bad(of_kind(0, UINT32_MAX), FL_OF);
	assert_bad(of_kind(FL_MEMBERS_MAX, FL_SAY), FL_OF);
}

/* Memory that runs out is no broken message. */
static void test_memory(void **state)
{
	(void)state;
	for (size_t i = 0; i < FLEET_KINDS; i++) {
		struct ot_buf out = { 0 }, again = { 0 };
		bool failed = true;

		fleet_kinds[i].write(&out);
		ot_buf_zero(&again, out.len + 100);
		for (unsigned n = 1; failed; n++) {
			struct ot_arena arena;

			ot_arena_init(&arena);
			ot_buf_clear(&again);
			nomem_at(n);
			struct ot_err *err = fleet_kinds[i].rewrite(out.data, out.len, &arena, &again);
			failed = nomem_end();
			if (failed)
				assert_int_equal(ot_err_code(err), OT_ERR_NO_MEMORY);
			else
				assert_null(err);
			ot_arena_deinit(&arena);
		}
		ot_buf_deinit(&out);
		ot_buf_deinit(&again);
	}
}

static void test_names(void **state)
{
	(void)state;
	for (unsigned kind = FL_HELLO; kind <= FL_GONE; kind++)
		assert_string_not_equal(fl_kind_name(kind), "?");
	assert_string_equal(fl_kind_name(FL_RUN), "RUN");
	assert_string_equal(fl_kind_name(0), "?");
	assert_string_equal(fl_kind_name(FL_GONE + 1), "?");
	assert_string_equal(fl_kind_name(UINT32_MAX), "?");
}

static void test_clock(void **state)
{
	struct fl_clock a, b;

	(void)state;
	fl_clock_now(&a);
	fl_clock_now(&b);
	assert_true(b.record >= a.record && b.boottime >= a.boottime);
	/* Not before this was written, 2026. */
	assert_true(a.realtime > 1767225600ull * 1000000000u);
	/* The time since this machine was started has what it slept too. */
	assert_true(b.boottime >= a.record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_truncations),
		cmocka_unit_test(test_members),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_long_sentences),
		cmocka_unit_test(test_bounds_of_run),
		cmocka_unit_test(test_promises),
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_clock),
		cmocka_unit_test(test_bounds_of_members),
		cmocka_unit_test(test_kinds_of_members),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
