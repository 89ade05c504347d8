/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values, dumps, stacks and print(): cli/output/print_value.c, print_stack.c, print_type.c. */
#include <zlib.h>

#include "tests/unit/cli_test_print.h"

static void value(struct output *o, const void *data, uint32_t size, enum cli_width width,
		  const char *expected)
{
	cli_print_value(&o->p, data, size, width);
	output_is(o, expected);
}

static void test_integers(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	value(&o, &(int64_t){ -5 }, 8, CLI_WIDTH_TRACE, "               -5");
	value(&o, &(int32_t){ -5 }, 4, CLI_WIDTH_TRACE, "       -5");
	value(&o, &(uint16_t){ 7 }, 2, CLI_WIDTH_KEY, "     7");
	value(&o, &(int8_t){ -1 }, 1, CLI_WIDTH_TRACE, " 255");
	o.opts.quiet = true;
	value(&o, &(int64_t){ -5 }, 8, CLI_WIDTH_TRACE, "-5");
	value(&o, &(int8_t){ -1 }, 1, CLI_WIDTH_TRACE, "255");
	value(&o, &(int8_t){ -1 }, 1, CLI_WIDTH_KEY, " 255"); /* keys keep their columns */
	output_deinit(&o);
}

static void test_strings(void **state)
{
	char str[16] = "hello";
	struct output o;

	(void)state;
	output_init(&o);
	value(&o, str, 16, CLI_WIDTH_TRACE, "  hello                            ");
	value(&o, str, 16, CLI_WIDTH_KEY, "  hello                                             ");
	value(&o, str, 16, CLI_WIDTH_PACKED, "            hello");
	value(&o, "abc", 3, CLI_WIDTH_TRACE, "  abc                              ");
	o.opts.quiet = true;
	value(&o, str, 16, CLI_WIDTH_TRACE, "hello");
	output_deinit(&o);
}

#define DUMP_HEAD "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"

static void test_dumps(void **state)
{
	uint8_t bytes[18] = { 'a', 0, 'b', 0xff };
	struct output o;

	(void)state;
	output_init(&o);
	value(&o, bytes, 18, CLI_WIDTH_TRACE,
	      DUMP_HEAD "         0: 61 00 62 ff 00 00 00 00 00 00 00 00 00 00 00 00  a.b.............\n"
			"        10: 00 00                                            ..\n");
	value(&o, "\0\0\0", 3, CLI_WIDTH_TRACE,
	      DUMP_HEAD "         0: 00 00 00                                         ...\n");
	o.opts.rawbytes = true;
	value(&o, "ab", 3, CLI_WIDTH_TRACE,
	      DUMP_HEAD "         0: 61 62 00                                         ab.\n");
	value(&o, "", 0, CLI_WIDTH_TRACE, "");
	output_deinit(&o);
}

static void kernel(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size)
{
	(void)arg;
	(void)guest;
	snprintf(buf, size, form == VP_SYM_OFFSET ? "vmlinux`f+0x%llx" : "vmlinux`f",
		 (unsigned long long)addr);
}

static void test_stacks(void **state)
{
	const struct dif_action stack = { .kind = DIF_ACT_stack }, sym = { .kind = DIF_ACT_sym };
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 16ull << 32 | 3 };
	uint64_t pcs[] = { 1, 2, 0, 4 };
	uint64_t user[6] = { 77, 0x10, 0x20, 0 };
	struct cli_datum d = { &stack, (uint8_t *)pcs, sizeof(pcs) };
	struct output o;

	(void)state;
	output_init(&o);
	o.p.symbols.kernel = kernel;
	cli_print_datum(&o.p, &d, CLI_WIDTH_TRACE);
	output_is(&o, "\n              vmlinux`f+0x1\n              vmlinux`f+0x2\n");
	o.opts.stackindent = 2;
	d.size = 8;
	cli_print_datum(&o.p, &d, CLI_WIDTH_TRACE);
	output_is(&o, "\n  vmlinux`f+0x1\n");
	d.action = &sym;
	cli_print_datum(&o.p, &d, CLI_WIDTH_KEY);
	output_is(&o, "  vmlinux`f                                         ");

	memcpy(&user[4], "Java\0@note\0", 12);
	d = (struct cli_datum){ &ustack, (uint8_t *)user, 48 };
	cli_print_datum(&o.p, &d, CLI_WIDTH_TRACE);
	output_is(&o, "\n  Java\n  0x20\n    [ note ]\n");
	/* a frame that interprets two of the program's, and one that was not found on the stack */
	user[2] = DIF_FRAME_WITHOUT_PC;
	memcpy(&user[4], "@a\nb\0c\0\0\0\0\0\0\0", 14);
	cli_print_datum(&o.p, &d, CLI_WIDTH_TRACE);
	output_is(&o, "\n  0x10\n    [ a ]\n    [ b ]\n  c\n");
	output_deinit(&o);
}

/* -x oformat=folded: the outermost frame first, without offsets, and nothing in a name ends it or the line.
 */
static void test_folded(void **state)
{
	const struct dif_action stack = { .kind = DIF_ACT_stack };
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 16ull << 32 | 2 };
	uint64_t pcs[] = { 1, 2, 0 }, user[5] = { 77, 0x10, 0x20 };
	struct cli_datum d = { &stack, (uint8_t *)pcs, sizeof(pcs) };
	struct cli_output *folded;
	struct output o;

	(void)state;
	output_init(&o);
	assert_null(cli_output_create(&cli_output_folded, &o.opts, o.p.fp, &folded));
	folded->printer.symbols.kernel = kernel;
	folded->ops->value(folded, &d);
	memcpy(&user[3], "a;b\nc\0main", 11);
	d = (struct cli_datum){ &ustack, (uint8_t *)user, sizeof(user) };
	folded->ops->value(folded, &d);
	memcpy(&user[3], "@x+0x1\ny\0z\0\0\0\0", 15);
	folded->ops->value(folded, &d);
	cli_output_destroy(folded);
	output_is(&o, "vmlinux`f;vmlinux`f 1\nmain;a:b?c 1\nz;y;x 1\n");
	output_deinit(&o);
}

/* -x oformat=flame: a page with the rows, from which no name can break out; end() may be called again. */
static void test_flame(void **state)
{
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 32ull << 32 | 2 };
	uint64_t user[7] = { 77, 0x10, 0x20 };
	struct cli_datum d = { &ustack, (uint8_t *)user, sizeof(user) };
	struct cli_output *flame;
	struct output o;

	(void)state;
	output_init(&o);
	assert_null(cli_output_create(&cli_output_flame, &o.opts, o.p.fp, &flame));
	memcpy(&user[3], "</script>\"\0main", 16);
	flame->ops->value(flame, &d);
	assert_null(flame->ops->end(flame));
	cli_output_destroy(flame);
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
	struct cli_output *flame;
	struct output o;

	(void)state;
	output_init(&o);
	assert_null(cli_output_create(&cli_output_flame, &o.opts, o.p.fp, &flame));
	cli_output_destroy(flame);
	fflush(o.p.fp);
	assert_non_null(strstr(o.text, "json\">[]\n</script>"));
	output_deinit(&o);
}

/* The profile of an output that has got @d once, without its compression. */
static size_t profile_of(struct output *o, const struct cli_datum *d, char *buf, size_t size)
{
	struct cli_output *pprof;
	z_stream z = { 0 };

	assert_null(cli_output_create(&cli_output_pprof, &o->opts, o->p.fp, &pprof));
	pprof->printer.symbols.kernel = kernel;
	pprof->ops->value(pprof, d);
	assert_null(pprof->ops->end(pprof));
	cli_output_destroy(pprof);
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
	struct cli_datum d = { &stack, (uint8_t *)pcs, sizeof(pcs) };
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
	d = (struct cli_datum){ &ustack, (uint8_t *)user, sizeof(user) };
	len = profile_of(&o, &d, buf, sizeof(buf));
	assert_non_null(memmem(buf, len,
			       "\x32\x04"
			       "a\"??",
			       6));
	output_deinit(&o);
}

static void type(struct output *o, const char *layout, const void *data, size_t size, const char *expected)
{
	assert_true(cli_print_type(&o->p, layout, data, size));
	output_is(o, expected);
}

static void test_types(void **state)
{
	struct output o;

	(void)state;
	output_init(&o);
	type(&o, "int\ni4s", &(int){ 0x1f }, 4, "int 0x1f\n");
	type(&o, "int\ni4s", &(int){ 0 }, 4, "int 0\n");
	type(&o, "char\ni1sc", "x", 1, "char 'x'\n");
	type(&o, "char\ni1sc", "\4", 1, "char '\\004'\n");
	type(&o, "string\nt5", "foo\0\0", 5, "string \"foo\"\n");
	type(&o, "string\nt3", "a\n\0", 3, "string [ 'a', '\\012', '\\0' ]\n");
	type(&o, "uint8_t\ni1u", "x", 1, "uint8_t 0x78\n");
	type(&o, "int (*)()\nq", &(uint64_t){ 8 }, 8, "int (*)() 0x8\n");
	type(&o, "char [2][3]\na2:char [3]:a3:char:i1sc", "ab\0cd\0", 6, "char [2][3] [ \"ab\", \"cd\" ]\n");
	o.p.symbols.kernel = kernel;
	type(&o, "int (*)()\nq", &(uint64_t){ 8 }, 8, "int (*)() vmlinux`f\n");
	type(&o, "int (*)()\nq", &(uint64_t){ 0 }, 8, "int (*)() 0\n");
	type(&o, "void *\np", &(uint64_t){ 1 }, 8, "void * 0x1\n");
	type(&o, "enum e\ne4s{RED=0,BLUE=-2,}", &(int){ -2 }, 4, "enum e BLUE\n");
	type(&o, "enum e\ne4u{RED=0,}", &(int){ 7 }, 4, "enum e 7\n");
	type(&o, "int [3]\na3:int:i4s", (int[]){ 1, 2, 3 }, 12, "int [3] [ 0x1, 0x2, 0x3 ]\n");
	type(&o, "char [4]\na4:char:i1sc", "ab\0", 4, "char [4] \"ab\"\n");
	output_deinit(&o);
}

static const char in_struct[] = "struct s\nS24{0:a:int:i4s;32.4:b:int:i4s;40:c:char [2]:a2:char:i1sc;"
				"64:in:struct t:S8{0:p:void *:p;};128:d:char [2]:a2:char:i1sc;}";

static void test_structs(void **state)
{
	struct {
		int a;
		unsigned char b;
		char c[2], pad;
		uint64_t p;
		char d[8];
	} s = { 1, 0x25, "x", 0, 0x10, { 4, 0 } };
	struct {
		char x;
	} two[2] = { { 'a' }, { 'b' } };
	struct output o;

	(void)state;
	output_init(&o);
	type(&o, in_struct, &s, sizeof(s),
	     "struct s {\n"
	     "    int a = 0x1\n"
	     "    int b :4 = 0x5\n"
	     "    char [2] c = [ \"x\" ]\n"
	     "    struct t in = {\n"
	     "        void *p = 0x10\n"
	     "    }\n"
	     "    char [2] d = [ '\\004', '\\0' ]\n"
	     "}");
	/* a bit-field whose type reaches behind the struct, and one that is just a byte */
	type(&o, "struct b\nS2{0.8:a:int:i4s;8.3:b:int:i4s;}", "\x12\x0d", 2,
	     "struct b {\n    int a = 0x12\n    int b :3 = 0x5\n}");
	/* an enum's bits are its value */
	type(&o, "struct b\nS1{0.2:a:enum e:e4u{A=0,B=3,};}", "\xff", 1,
	     "struct b {\n    enum e a :2 = B\n}");
	type(&o, "struct s\nS4{0::struct :S4{0:y:int:i4s;};}", &(int){ 1 }, 4,
	     "struct s {\n    struct  {\n        int y = 0x1\n    }\n}");
	type(&o, "pan_t\nS16{0:i:int:i4s;32:s:string:t12;}", "\x14\0\0\0cakes\0\0\0\0\0\0", 16,
	     "pan_t {\n    int i = 0x14\n    string s = [ \"cakes\" ]\n}");
	type(&o, "struct u [2]\na2:struct u:S1{0:x:char:i1sc;}", two, 2,
	     "struct u [2] [ \n"
	     "    struct u {\n"
	     "        char x = 'a'\n"
	     "    }, \n"
	     "    struct u {\n"
	     "        char x = 'b'\n"
	     "    }\n"
	     "]\n");
	output_deinit(&o);
}

/* Broken descriptions are refused before anything is printed, and none reads behind the data. */
static void test_bad_types(void **state)
{
	static const char *const bad[] = {
		"",
		"int",
		"int\n",
		"int\ni",
		"int\ni4",
		"int\ni4sx",
		"int\nz4",
		"string\nt",
		"s\nS4{0:a:",
		"a\na3:",
		"int\ni99999999999999999999s",
		"e\ne4u{RED",
		"e\ne4u{RED=,}",
		"s\nS4{0:a:int:i4s;",
	};
	uint8_t *data = malloc(4);
	char deep[4096] = "";
	struct output o;

	(void)state;
	memset(data, 0, 4);
	output_init(&o);
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++)
		assert_false(cli_print_type(&o.p, bad[i], data, 4));
	strcat(deep, "x\n");
	for (int i = 0; i < 200; i++)
		strcat(deep, "a1:x:");
	strcat(deep, "i4s");
	assert_false(cli_print_type(&o.p, deep, data, 4));
	output_is(&o, "");
	/* sizes that the data has not: stops, reads nothing */
	cli_print_type(&o.p, "int [9]\na9:int:i4s", data, 4);
	cli_print_type(&o.p, "long\ni8s", data, 4);
	cli_print_type(&o.p, "s\nS400{3000:a:int:i4s;}", data, 4);
	cli_print_type(&o.p, "s\nS4{24.60:a:int:i4s;}", data, 4);
	cli_print_type(&o.p, "string\nt9", data, 4);
	output_deinit(&o);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_dumps),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_flame),
		cmocka_unit_test(test_flame_of_nothing),
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_structs),
		cmocka_unit_test(test_bad_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
