/* SPDX-License-Identifier: GPL-2.0-or-later */
/* printf formats: taking them apart (dif/obj/format.c), printing by them (consumer/output/print_format.c). */
#include <time.h>

#include "tests/unit/consumer_test_print.h"

static struct dif_format parse(struct ot_arena *arena, const char *text)
{
	struct dif_format fmt;

	assert_null(dif_format_parse(text, arena, &fmt));
	return fmt;
}

static void test_parse(void **state)
{
	struct ot_arena arena;
	struct dif_format fmt;

	(void)state;
	ot_arena_init(&arena);
	fmt = parse(&arena, "a%0-8.3lldb%*.*s%%%@#x%-08d");
	assert_int_equal(fmt.nconvs, 5);
	assert_int_equal(fmt.convs[0].literal_len, 1);
	assert_int_equal(fmt.convs[0].flags, DIF_CONV_LEFT); /* of "-" and "0" the last one counts */
	assert_int_equal(fmt.convs[4].flags, DIF_CONV_ZERO);
	assert_int_equal(fmt.convs[0].width, 8);
	assert_int_equal(fmt.convs[0].prec, 3);
	assert_string_equal(fmt.convs[0].size, "ll");
	assert_int_equal(fmt.convs[0].conv, 'd');
	assert_int_equal(fmt.convs[1].flags, DIF_CONV_STAR_WIDTH | DIF_CONV_STAR_PREC);
	assert_int_equal(fmt.convs[2].conv, '%');
	assert_int_equal(fmt.convs[3].flags, DIF_CONV_AGG | DIF_CONV_ALT);

	fmt = parse(&arena, "only text");
	assert_int_equal(fmt.nconvs, 1);
	assert_int_equal(fmt.convs[0].conv, 0);
	assert_int_equal(fmt.convs[0].literal_len, 9);
	fmt = parse(&arena, "%.0s%5.d");
	assert_int_equal(fmt.convs[0].prec, -1); /* a precision of 0 is none */
	assert_int_equal(fmt.convs[1].prec, -1);
	fmt = parse(&arena, "");
	assert_int_equal(fmt.nconvs, 0);
	ot_arena_deinit(&arena);
}

static void test_parse_refuses(void **state)
{
	static const char *const bad[] = {
		"%",      "abc %5",        "%1$d",           "%n", "%hhd", "%Ld",  "%ld%z",
		"%.",     "%99999999999d", "%.99999999999d", "%l", "%ll",  "%**d", "%1.2.3d",
		"%.*.*d", "%5%",           "%lllld"
	};
	struct ot_arena arena;

	(void)state;
	ot_arena_init(&arena);
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		struct dif_format fmt;
		struct ot_err *err = dif_format_parse(bad[i], &arena, &fmt);
		assert_non_null(err);
		assert_int_equal(ot_err_code(err), OT_ERR_SYNTAX);
		ot_err_destroy(err);
	}
	ot_arena_deinit(&arena);
}

/* An argument of a printf. */
#define ARG(type, ...) \
	((struct con_datum){ &printf_action, (const uint8_t *)(const type[]){ __VA_ARGS__ }, sizeof(type) })
#define STR(s, n) ((struct con_datum){ &printf_action, (const uint8_t *)(s), n })

static const struct dif_action printf_action = { .kind = DIF_ACT_printf };

static void check(struct output *o, const char *expected, const char *format, const struct con_datum *args,
		  unsigned nargs)
{
	struct ot_arena arena;
	struct dif_format fmt;

	ot_arena_init(&arena);
	fmt = parse(&arena, format);
	con_print_format(&o->p, &fmt, args, nargs, NULL, 0);
	ot_arena_deinit(&arena);
	output_is(o, expected);
}

#define CHECK(expected, format, ...)                                           \
	check(&o, expected, format, (const struct con_datum[]){ __VA_ARGS__ }, \
	      sizeof((const struct con_datum[]){ __VA_ARGS__ }) / sizeof(struct con_datum))

static void test_integers(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	CHECK("42 ok\n", "%d %s\n", ARG(int, 42), STR("ok\0junk", 8));
	CHECK("255 -1 255 ffffffff 1777777777777777777777", "%d %i %u %x %o", ARG(int8_t, -1),
	      ARG(int8_t, -1), ARG(uint8_t, 255), ARG(int32_t, -1), ARG(int64_t, -1));
	CHECK("[   42][42   ][00042][+42][ 42][0x2a][0X2A]", "[%5d][%-5d][%05d][%+d][% d][%#x][%#X]",
	      ARG(int, 42), ARG(int, 42), ARG(int, 42), ARG(int, 42), ARG(int, 42), ARG(int, 42),
	      ARG(int, 42));
	CHECK("[00042][  00042]", "[%.5d][%7.5d]", ARG(int, 42), ARG(int, 42));
	CHECK("ffffffff81000000", "%p", ARG(uint64_t, 0xffffffff81000000));
	CHECK("[            1000]", "[%?p]", ARG(uint64_t, 0x1000));
	CHECK("65535 -1", "%hu %hd", ARG(uint16_t, 65535), ARG(int16_t, -1));
	CHECK("9223372036854775807", "%lld", ARG(int64_t, INT64_MAX));
	output_deinit(&o);
}

static void test_star(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	CHECK("[    x][x    ]", "[%*s][%*s]", ARG(int, 5), STR("x", 2), ARG(int, -5), STR("x", 2));
	CHECK("[ab][  ab]", "[%.*s][%4.*s]", ARG(int, 2), STR("abcd", 5), ARG(int, 2), STR("abcd", 5));
	CHECK("[abcd]", "[%.*s]", ARG(int, 0), STR("abcd", 5));
	/* hostile widths are bounded */
	con_print_format(
	    &o.p,
	    &(struct dif_format){
		&(struct dif_conv){ .flags = DIF_CONV_STAR_WIDTH, .width = -1, .prec = -1, .conv = 'd' }, 1 },
	    (const struct con_datum[]){ ARG(int, INT32_MIN), ARG(int, 1) }, 2, NULL, 0);
	fflush(o.p.fp);
	assert_int_equal(o.len, 65536);
	output_deinit(&o);
}

static void test_text(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	CHECK("[abcd]", "[%s]", STR("abcd", 4)); /* without a NUL */
	CHECK("[]", "[%s]", STR("", 1));
	CHECK("[abcd][ab]", "[%.0s][%.2s]", STR("abcd", 5), STR("abcd", 5));
	CHECK("A%", "%c%%", ARG(int, 'A'));
	CHECK("\\n \\t\\\"\\001\\\\\\0", "%C %S", ARG(char, '\n'), STR("\t\"\001\\\0\0", 7));
	CHECK("a\\0", "%S", STR("a\0b\0\0", 6));
	CHECK("ab", "%S", STR("ab", 2));
	CHECK("\xc3\xa9\xe2\x82\xac", "%ws", STR("\xe9\0\0\0\xac\x20\0\0\0\0\0", 12));
	output_deinit(&o);
}

static void test_floats(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	CHECK("1.500000 2.25 1.000000e+03", "%f %g %e", ARG(float, 1.5f), ARG(double, 2.25),
	      ARG(double, 1000));
	CHECK("[   0.50]", "[%7.2Lf]", ARG(long double, 0.5L));
	output_deinit(&o);
}

static void test_times(void **state)
{
	struct output o;

	(void)state;
	setenv("TZ", "UTC", 1);
	tzset();
	output_init(&o);
	CHECK("1973 Dec  3 17:20:00", "%Y", ARG(int64_t, 123787200000000000 + 999));
	CHECK("Mon, 03 Dec 1973 17:20:00 UTC", "%T", ARG(int64_t, 123787200000000000));
	CHECK("[      1973 Dec  3 17:20:00]", "[%26Y]", ARG(int64_t, 123787200000000000));
	output_deinit(&o);
}

static void kernel(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size)
{
	(void)arg;
	assert_int_equal(guest, 3);
	if (addr != 0x1012)
		snprintf(buf, size, "0x%llx", (unsigned long long)addr);
	else
		snprintf(buf, size, "%s",
			 form == VP_SYM_OFFSET ? "vmlinux`foo+0x12"
			 : form == VP_SYM_NAME ? "vmlinux`foo"
					       : "vmlinux");
}

static void test_addresses(void **state)
{
	const struct dif_action sym = { .kind = DIF_ACT_sym }, mod = { .kind = DIF_ACT_mod };
	const struct dif_action stack = { .kind = DIF_ACT_stack };
	const uint64_t pcs[] = { 0x1012, 0x2000, 0, 0x3000 };
	struct output o;

	(void)state;
	output_init(&o);
	o.p.symbols.kernel = kernel;
	o.p.guest = 3;
	CHECK("vmlinux`foo+0x12 0x2000", "%a %a", ARG(uint64_t, 0x1012), ARG(uint64_t, 0x2000));
	CHECK("[vmlinux`foo ]", "[%-12a]", ((struct con_datum){ &sym, (const uint8_t *)pcs, 8 }));
	CHECK("vmlinux", "%a", ((struct con_datum){ &mod, (const uint8_t *)pcs, 8 }));
	CHECK("\nvmlinux`foo+0x12\n0x2000\n", "%k", ((struct con_datum){ &stack, (const uint8_t *)pcs, 32 }));
	CHECK("\n    vmlinux`foo+0x12\n    0x2000\n", "%-4k",
	      ((struct con_datum){ &stack, (const uint8_t *)pcs, 32 }));
	output_deinit(&o);
}

/* Fewer arguments than conversions: nothing is read that is not there. */
static void test_missing_arguments(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	CHECK("1   end", "%d %d %s%@d end", ARG(int, 1));
	output_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_refuses),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_star),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_missing_arguments),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
