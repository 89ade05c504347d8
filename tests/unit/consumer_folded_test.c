/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is made of stacks: folded lines, a flame graph's page, a profile: consumer/output/fold.c and its
 * users. */
#include <zlib.h>

#include "tests/unit/consumer_test_print.h"

/* -x oformat=folded: the outermost frame first, without offsets, and nothing in a name ends it or the line.
 */
static void test_folded(void **state)
{
	const struct dif_action stack = { .kind = DIF_ACT_stack };
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 16ull << 32 | 2 };
	uint64_t pcs[] = { 1, 2, 0 }, user[5] = { 77, 0x10, 0x20 };
	struct con_datum d = { &stack, (uint8_t *)pcs, sizeof(pcs) };
	struct con_output *folded;
	struct output o;

	(void)state;
	output_init(&o);
	assert_null(con_output_create(&con_output_folded, &o.opts, o.p.fp, &folded));
	folded->printer.symbols.kernel = output_kernel_name;
	folded->ops->value(folded, &d);
	memcpy(&user[3], "a;b\nc\0main", 11);
	d = (struct con_datum){ &ustack, (uint8_t *)user, sizeof(user) };
	folded->ops->value(folded, &d);
	memcpy(&user[3], "@x+0x1\ny\0z\0\0\0\0", 15);
	folded->ops->value(folded, &d);
	con_output_destroy(folded);
	output_is(&o, "vmlinux`f;vmlinux`f 1\nmain;a:b?c 1\nz;y;x 1\n");
	output_deinit(&o);
}

/* -x oformat=flame: a page with the rows, from which no name can break out; end() may be called again. */
static void test_flame(void **state)
{
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 32ull << 32 | 2 };
	uint64_t user[7] = { 77, 0x10, 0x20 };
	struct con_datum d = { &ustack, (uint8_t *)user, sizeof(user) };
	struct con_output *flame;
	struct output o;

	(void)state;
	output_init(&o);
	assert_null(con_output_create(&con_output_flame, &o.opts, o.p.fp, &flame));
	memcpy(&user[3], "</script>\"\0main", 16);
	flame->ops->value(flame, &d);
	assert_null(flame->ops->end(flame));
	con_output_destroy(flame);
	fflush(o.p.fp);
	assert_int_equal(strncmp(o.text, "<!DOCTYPE html>", 15), 0);
	assert_non_null(strstr(o.text, "json\">[\n  [\"main;\\u003c/script>\\\"\", 0, 2, 1]\n]\n</script>"));
	assert_null(strstr(o.text, "@ROWS@"));
	assert_null(strstr(strstr(o.text, "</html>") + 1, "</html>"));
	output_deinit(&o);
}

/* Without a stack the page is there too. */
static void test_flame_of_nothing(void **state)
{
	struct con_output *flame;
	struct output o;

	(void)state;
	output_init(&o);
	assert_null(con_output_create(&con_output_flame, &o.opts, o.p.fp, &flame));
	con_output_destroy(flame);
	fflush(o.p.fp);
	assert_non_null(strstr(o.text, "json\">[]\n</script>"));
	output_deinit(&o);
}

/* The profile of an output that has got @d once, without its compression. */
static size_t profile_of(struct output *o, const struct con_datum *d, char *buf, size_t size)
{
	struct con_output *pprof;
	z_stream z = { 0 };

	assert_null(con_output_create(&con_output_pprof, &o->opts, o->p.fp, &pprof));
	pprof->printer.symbols.kernel = output_kernel_name;
	pprof->ops->value(pprof, d);
	assert_null(pprof->ops->end(pprof));
	con_output_destroy(pprof);
	fflush(o->p.fp);
	z.next_in = (uint8_t *)o->text;
	z.avail_in = (unsigned)o->len;
	z.next_out = (uint8_t *)buf;
	z.avail_out = (unsigned)size;
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	inflateEnd(&z);
	return size - z.avail_out;
}

/* -x oformat=pprof: two places in one function of one module, each a location; a name of a guest's choice is
 * valid UTF-8. */
static void test_pprof(void **state)
{
	static const char locations[] =
	    "\x22\x8d\x80\x80\0\x08\x01\x10\x01\x18\x01\x22\x82\x80\x80\0\x08\x01"
	    "\x22\x8d\x80\x80\0\x08\x02\x10\x01\x18\x02\x22\x82\x80\x80\0\x08\x01";
	const struct dif_action stack = { .kind = DIF_ACT_stack };
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 16ull << 32 | 1 };
	uint64_t pcs[] = { 1, 2, 0 }, user[4] = { 77, 0x10 };
	struct con_datum d = { &stack, (uint8_t *)pcs, sizeof(pcs) };
	char buf[4096];
	struct output o;

	(void)state;
	output_init(&o);
	size_t len = profile_of(&o, &d, buf, sizeof(buf));
	assert_non_null(memmem(buf, len, locations, sizeof(locations) - 1));
	assert_non_null(memmem(buf, len, "\x32\x07vmlinux", 9));
	assert_non_null(memmem(buf, len,
			       "\x32\x01"
			       "f",
			       3));
	output_deinit(&o);

	output_init(&o);
	memcpy(&user[2], "a\"\n\xff", 5);
	d = (struct con_datum){ &ustack, (uint8_t *)user, sizeof(user) };
	len = profile_of(&o, &d, buf, sizeof(buf));
	assert_non_null(memmem(buf, len,
			       "\x32\x04"
			       "a\"??",
			       6));
	output_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_flame),
		cmocka_unit_test(test_flame_of_nothing),
		cmocka_unit_test(test_pprof),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
