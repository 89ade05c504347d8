/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print(): values by their types' descriptions, good and broken: consumer/output/print_type.c. */
#include "tests/unit/consumer_test_print.h"

static void type(struct output *o, const char *layout, const void *data, size_t size, const char *expected)
{
	assert_true(con_print_type(&o->p, layout, data, size));
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
	o.p.symbols.kernel = output_kernel_name;
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
		assert_false(con_print_type(&o.p, bad[i], data, 4));
	strcat(deep, "x\n");
	for (int i = 0; i < 200; i++)
		strcat(deep, "a1:x:");
	strcat(deep, "i4s");
	assert_false(con_print_type(&o.p, deep, data, 4));
	output_is(&o, "");
	/* sizes that the data has not: stops, reads nothing */
	con_print_type(&o.p, "int [9]\na9:int:i4s", data, 4);
	con_print_type(&o.p, "long\ni8s", data, 4);
	con_print_type(&o.p, "s\nS400{3000:a:int:i4s;}", data, 4);
	con_print_type(&o.p, "s\nS4{24.60:a:int:i4s;}", data, 4);
	con_print_type(&o.p, "string\nt9", data, 4);
	output_deinit(&o);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_structs),
		cmocka_unit_test(test_bad_types),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
