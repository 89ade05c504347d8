/* SPDX-License-Identifier: GPL-2.0-or-later */
/* RUN as a host takes it, from whoever sends it: fleet/host/run.c and options.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/host/options.h"
#include "fleet/host/run.h"
#include "fleet/wire/message.h"

/* A text, whose length is told: it may have a NUL. */
#define TEXT(s)                                     \
	{                                           \
		(const uint8_t *)(s), sizeof(s) - 1 \
	}

static const char *const words[] = { "x.d", "one" };

/* Read @run; the message is gone afterwards. */
static struct ot_err *take(struct fl_run_here *r, const struct fl_run *run)
{
	struct ot_buf out;

	ot_buf_init(&out);
	fl_put_run(&out, run);
	assert_false(out.failed);
	fl_run_here_init(r);
	struct ot_err *err = fl_run_here_read(r, out.data, out.len);
	memset(out.data, 0xaa, out.len);
	ot_buf_deinit(&out);
	return err;
}

static void test_whole(void **state)
{
	const struct fl_source sources[] = { { true, DIF_SPEC_NAME, "a/x.d", TEXT("BEGIN\n{\n}\n") },
					     { false, DIF_SPEC_FUNCTION, "", TEXT("read { trace(1); }") } };
	const struct fl_option options[] = { { "bufsize", "64k" }, { "destructive", NULL } };
	const struct fl_run run = { "web* db", sources, 2, options, 2, words, 2 };
	struct fl_run_here r;

	(void)state;
	assert_null(take(&r, &run));
	assert_string_equal(r.guests, "web* db");
	assert_int_equal(r.texts.count, 2);
	const struct con_program *script = &r.texts.items[0], *text = &r.texts.items[1];
	assert_true(script->is_script);
	assert_string_equal(script->arg, "a/x.d");
	assert_string_equal(script->text, "BEGIN\n{\n}\n");
	assert_int_equal(script->len, 10);
	assert_false(text->is_script);
	assert_int_equal(text->spec, DIF_SPEC_FUNCTION);
	assert_string_equal(text->arg, "read { trace(1); }");
	assert_int_equal(r.opts.bufsize, 64 << 10);
	assert_true(r.opts.destructive);
	assert_int_equal(r.texts.args->count, 2);
	assert_string_equal(r.texts.args->items[1], "one");
	assert_null(r.texts.args->items[2]);
	assert_ptr_equal(r.texts.opts, &r.opts);
	assert_int_equal(r.texts.cpp->count, 0);
	fl_run_here_deinit(&r);
}

/* $0 is there also if nobody has said it. */
static void test_no_arguments(void **state)
{
	const struct fl_source source = { false, 0, "", TEXT("BEGIN") };
	const struct fl_run run = { .guests = "", .sources = &source, .nsources = 1 };
	struct fl_run_here r;

	(void)state;
	assert_null(take(&r, &run));
	assert_int_equal(r.texts.args->count, 1);
	assert_string_equal(r.texts.args->items[0], "outsight");
	fl_run_here_deinit(&r);
}

static void refused(const struct fl_run *run, enum ot_err_code code, const char *text)
{
	struct fl_run_here r;
	struct ot_err *err = take(&r, run);

	assert_non_null(err);
	assert_string_equal(ot_err_message(err), text);
	assert_int_equal(ot_err_code(err), code);
	ot_err_destroy(err);
	fl_run_here_deinit(&r);
}

static void test_refused(void **state)
{
	const struct fl_source nul = { false, 0, "", TEXT("BE\0GIN") },
			       kind = { false, 9, "", TEXT("BEGIN") };
	const struct fl_source good = { false, 0, "", TEXT("BEGIN") };
	const struct fl_option unknown = { "no_such", "1" }, bad = { "aggrate", "often" };
	struct fl_run run = { .guests = "g", .sources = &nul, .nsources = 1 };

	(void)state;
	refused(&run, OT_ERR_SYNTAX, "a NUL in a probe specifier");
	run.sources = &kind;
	refused(&run, OT_ERR_BAD_DATA, "a text of kind 9");
	run.nsources = 0;
	refused(&run, OT_ERR_SYNTAX, "no program");
	run = (struct fl_run){
		.guests = "g", .sources = &good, .nsources = 1, .options = &unknown, .noptions = 1
	};
	refused(&run, OT_ERR_SYNTAX, "failed to set -x no_such=1: Invalid option name");
	run.options = &bad;
	refused(&run, OT_ERR_SYNTAX, "failed to set -x aggrate=often: Invalid value for specified option");
}

/* A script may have NULs: the compiler is told its length. */
static void test_script_with_nul(void **state)
{
	const struct fl_source source = { true, 0, "x.d", TEXT("BEGIN\0{}") };
	const struct fl_run run = { .guests = "g", .sources = &source, .nsources = 1 };
	struct fl_run_here r;

	(void)state;
	assert_null(take(&r, &run));
	assert_int_equal(r.texts.items[0].len, 8);
	assert_memory_equal(r.texts.items[0].text, "BEGIN\0{}", 9);
	fl_run_here_deinit(&r);
}

/* What names files and programs is not set here, whatever it says. */
static void test_options_of_the_operator(void **state)
{
	const struct fl_source source = { false, 0, "", TEXT("BEGIN") };
	const struct fl_option options[] = {
		{ "cpppath", "/bin/evil" }, { "syslibdir", "/tmp/evil" }, { "cpp", NULL },
		{ "libdir", "/tmp/evil" },  { "oformat", "nonsense" },    { "quiet", NULL }
	};
	const struct fl_run run = { "g", &source, 1, options, OT_ARRAY_SIZE(options), NULL, 0 };
	struct fl_run_here r;

	(void)state;
	assert_null(take(&r, &run));
	assert_null(r.opts.cpppath);
	assert_null(r.opts.syslibdir);
	assert_false(r.opts.cpp);
	assert_false(r.opts.quiet);
	assert_int_equal(r.opts.set.count, 0);
	fl_run_here_deinit(&r);
}

/* Whoever adds an option decides whose it is. */
static void test_every_option(void **state)
{
	const char *name;

	(void)state;
	for (size_t i = 0; (name = dif_options_name(i)); i++)
		if (fl_option_use(name) == FL_OPTION_UNKNOWN)
			fail_msg("fleet/host/options.c does not know the option %s", name);
	assert_int_equal(fl_option_use("cpppath"), FL_OPTION_OPERATOR);
	assert_int_equal(fl_option_use("syslibdir"), FL_OPTION_OPERATOR);
	assert_int_equal(fl_option_use("trap"), FL_OPTION_HOST);
	assert_int_equal(fl_option_use(""), FL_OPTION_UNKNOWN);
}

/* Every prefix of a message, and every one with a byte changed: an error or a request, never more. */
static void test_damaged(void **state)
{
	const struct fl_source sources[] = { { true, 0, "x.d", TEXT("BEGIN") }, { false, 1, "", TEXT("a") } };
	const struct fl_option options[] = { { "strsize", "9" }, { "temporal", NULL } };
	const struct fl_run run = { "web*", sources, 2, options, 2, words, 2 };
	struct fl_run_here r;
	struct ot_buf out;

	(void)state;
	ot_buf_init(&out);
	fl_put_run(&out, &run);
	for (size_t i = 0; i < out.len; i++) {
		uint8_t *copy = malloc(i ? i : 1); /* of exactly that size, for AddressSanitizer */
		memcpy(copy, out.data, i);
		fl_run_here_init(&r);
		struct ot_err *err = fl_run_here_read(&r, copy, i);
		assert_non_null(err);
		assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
		ot_err_destroy(err);
		fl_run_here_deinit(&r);
		free(copy);
	}
	for (size_t i = 0; i < out.len; i++) {
		out.data[i] ^= (char)0xff;
		fl_run_here_init(&r);
		ot_err_destroy(fl_run_here_read(&r, out.data, out.len));
		fl_run_here_deinit(&r);
		out.data[i] ^= (char)0xff;
	}
	ot_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_no_arguments),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_script_with_nul),
		cmocka_unit_test(test_options_of_the_operator),
		cmocka_unit_test(test_every_option),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
