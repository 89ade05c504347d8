/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines, as tables of calls and results. The last test fails if one was left out. */
#include "tests/unit/dif_fixture.h"

static bool covered[0x200];

/* An argument: a string if s is set, else a number. */
struct arg {
	const char *s;
	uint64_t n;
};
#define S(text)             \
	{                   \
		.s = (text) \
	}
#define N(num)                       \
	{                            \
		.n = (uint64_t)(num) \
	}

static void make_call(struct fx_object *o, uint32_t subr, unsigned nargs, const struct arg *args)
{
	fx_object_init(o);
	covered[subr] = true;
	fx_op3(o, DIF_OP_flushts, 0, 0, 0);
	for (unsigned i = 0; i < nargs; i++) {
		if (args[i].s)
			fx_sets(o, args[i].s, 1);
		else
			fx_setx(o, args[i].n, 1);
		fx_op3(o, args[i].s ? DIF_OP_pushtr : DIF_OP_pushtv, args[i].s ? 1 : 0, 0, 1);
	}
	fx_op(o, dif_insn_index(DIF_OP_call, subr, 2));
	fx_ret(o, 2);
}

static uint64_t call(struct fx *fx, uint32_t subr, unsigned nargs, const struct arg *args)
{
	struct fx_object o;

	make_call(&o, subr, nargs, args);
	return fx_value(fx, &o);
}

static void call_faults(struct fx *fx, uint32_t subr, unsigned nargs, const struct arg *args,
			enum dif_fault fault)
{
	struct fx_object o;
	uint64_t value;

	make_call(&o, subr, nargs, args);
	fx_no_error(dif_verify(&o.obj));
	assert_int_equal(dif_vm_eval(&fx->vm, &o.obj, &value), fault);
	assert_int_equal(fx->vm.fault_offset, (o.obj.text_len - 2) * 4);
}

/* --- strings ------------------------------------------------------------------------------ */

static const struct {
	uint32_t subr;
	unsigned nargs;
	struct arg args[3];
	const char *result; /* NULL: 0 */
} texts[] = {
	{ DIF_SUBR_strjoin, 2, { S("ab"), S("cd") }, "abcd" },
	{ DIF_SUBR_strjoin, 2, { S(""), S("") }, "" },
	{ DIF_SUBR_strchr, 2, { S("hello"), N('l') }, "llo" },
	{ DIF_SUBR_strchr, 2, { S("hello"), N('z') }, NULL },
	{ DIF_SUBR_strchr, 2, { S("hello"), N(0) }, "" },
	{ DIF_SUBR_strrchr, 2, { S("hello"), N('l') }, "lo" },
	{ DIF_SUBR_strrchr, 2, { S("hello"), N(0) }, "" },
	{ DIF_SUBR_strrchr, 2, { S(""), N('x') }, NULL },
	{ DIF_SUBR_strstr, 2, { S("hello world"), S("o w") }, "o world" },
	{ DIF_SUBR_strstr, 2, { S("hello"), S("xyz") }, NULL },
	{ DIF_SUBR_strstr, 2, { S("hello"), S("") }, "hello" },
	{ DIF_SUBR_strstr, 2, { S(""), S("") }, "" },
	{ DIF_SUBR_strstr, 2, { S("ab"), S("abc") }, NULL },
	{ DIF_SUBR_toupper, 1, { S("aZ-z{`9\xe4") }, "AZ-Z{`9\xe4" },
	{ DIF_SUBR_tolower, 1, { S("AzZ@[") }, "azz@[" },
	{ DIF_SUBR_substr, 2, { S("foobarbaz"), N(3) }, "barbaz" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(3), N(3) }, "bar" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(300), N(3) }, "" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(-3), N(2) }, "ba" },
	{ DIF_SUBR_substr, 2, { S("foobarbaz"), N(-3) }, "baz" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(-20), N(13) }, "fo" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(-20), N(11) }, "" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(1), N(-3) }, "oobar" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(7), N(-3) }, "" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(0), N(0) }, "" },
	{ DIF_SUBR_substr, 3, { S("foobarbaz"), N(2), N(INT32_MAX) }, "obarbaz" },
	{ DIF_SUBR_basename, 1, { S("") }, "." },
	{ DIF_SUBR_basename, 1, { S("/") }, "/" },
	{ DIF_SUBR_basename, 1, { S("///") }, "/" },
	{ DIF_SUBR_basename, 1, { S("/foo/bar") }, "bar" },
	{ DIF_SUBR_basename, 1, { S("/foo/bar///") }, "bar" },
	{ DIF_SUBR_basename, 1, { S("foo") }, "foo" },
	{ DIF_SUBR_dirname, 1, { S("") }, "." },
	{ DIF_SUBR_dirname, 1, { S("//") }, "/" },
	{ DIF_SUBR_dirname, 1, { S("/x") }, "/" },
	{ DIF_SUBR_dirname, 1, { S("x") }, "." },
	{ DIF_SUBR_dirname, 1, { S("x/") }, "." },
	{ DIF_SUBR_dirname, 1, { S("/foo/bar") }, "/foo" },
	{ DIF_SUBR_dirname, 1, { S("/foo///bar/") }, "/foo" },
	{ DIF_SUBR_cleanpath, 1, { S("/foo/bar/baz") }, "/foo/bar/baz" },
	{ DIF_SUBR_cleanpath, 1, { S("/foo/bar///baz/") }, "/foo/bar/baz/" },
	{ DIF_SUBR_cleanpath, 1, { S("/foo/./bar/./baz//") }, "/foo/bar/baz/" },
	{ DIF_SUBR_cleanpath, 1, { S("/foo/bar/baz/../") }, "/foo/bar/" },
	{ DIF_SUBR_cleanpath, 1, { S("/foo/bar/..") }, "/foo/" },
	{ DIF_SUBR_cleanpath, 1, { S("/foo/../../x") }, "/x" },
	{ DIF_SUBR_cleanpath, 1, { S("/../../..foo/..bar//") }, "/..foo/..bar/" },
	{ DIF_SUBR_cleanpath, 1, { S("/.foo./...") }, "/.foo./..." },
	{ DIF_SUBR_cleanpath, 1, { S("relative/path") }, "relative/path" },
	{ DIF_SUBR_cleanpath, 1, { S("/..") }, "/" },
	{ DIF_SUBR_cleanpath, 1, { S("") }, "" },
	{ DIF_SUBR_lltostr, 1, { N(0) }, "0" },
	{ DIF_SUBR_lltostr, 1, { N(-123) }, "-123" },
	{ DIF_SUBR_lltostr, 1, { N(INT64_MIN) }, "-9223372036854775808" },
	{ DIF_SUBR_lltostr, 2, { N(255), N(16) }, "0xff" },
	{ DIF_SUBR_lltostr, 2, { N(-1), N(16) }, "0xffffffffffffffff" },
	{ DIF_SUBR_lltostr, 2, { N(8), N(8) }, "010" },
	{ DIF_SUBR_lltostr, 2, { N(5), N(2) }, "101" },
	{ DIF_SUBR_lltostr,
	  2,
	  { N(-1), N(2) },
	  "1111111111111111111111111111111111111111111111111111111111111111" },
	{ DIF_SUBR_lltostr, 2, { N(35), N(36) }, "z" },
	{ DIF_SUBR_json, 2, { S("{\"a\":1}"), S("a") }, "1" },
	{ DIF_SUBR_json, 2, { S("{\"a\":{\"b\":[1,\"two\",{\"c\":true}]}}"), S("a.b[1]") }, "two" },
	{ DIF_SUBR_json, 2, { S("{\"a\":{\"b\":[1,\"two\",{\"c\":true}]}}"), S("a.b[2].c") }, "true" },
	{ DIF_SUBR_json, 2, { S("{\"a\":{\"b\":[1,\"two\",{\"c\":true}]}}"), S("a.b[2]") }, "{\"c\":true}" },
	{ DIF_SUBR_json, 2, { S("{\"a\":{\"b\":[1,\"two\",{\"c\":true}]}}"), S("a.b[3]") }, NULL },
	{ DIF_SUBR_json, 2, { S(" { \"a\" : [ 10 , 20 ] } "), S("a[1]") }, "20" },
	{ DIF_SUBR_json, 2, { S("[[1,2],[3,4]]"), S("[1][0]") }, "3" },
	{ DIF_SUBR_json, 2, { S("{\"a\":\"x\\\"y\"}"), S("a") }, "x\\\"y" },
	{ DIF_SUBR_json, 2, { S("{\"a\":null,\"b\":-1.5e3}"), S("b") }, "-1.5e3" },
	{ DIF_SUBR_json, 2, { S("{\"]\":\"}\",\"b\":2}"), S("b") }, "2" },
	{ DIF_SUBR_json, 2, { S("{\"a\":1}"), S("b") }, NULL },
	{ DIF_SUBR_json, 2, { S("{\"a\":1}"), S("") }, NULL },
	{ DIF_SUBR_json, 2, { S("{\"a\":1}"), S("a.b") }, NULL },
	{ DIF_SUBR_json, 2, { S("{\"a\":[1}"), S("a") }, NULL },
	{ DIF_SUBR_json, 2, { S("{\"a\""), S("a") }, NULL },
	{ DIF_SUBR_json, 2, { S("{\"a\":\"unfinished\\"), S("a") }, NULL },
	{ DIF_SUBR_json, 2, { S("[]"), S("[0]") }, NULL },
	{ DIF_SUBR_json, 2, { S("[1]"), S("x") }, NULL },
	{ DIF_SUBR_json, 2, { S("no json"), S("a") }, NULL },
};

static void test_texts(void **state)
{
	struct fx *fx = fx_create(NULL);
	struct fx_object o;
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(texts); i++) {
		dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
		make_call(&o, texts[i].subr, texts[i].nargs, texts[i].args);
		uint64_t addr = fx_value(fx, &o);
		const char *got = addr ? fx_text(fx, addr) : NULL;
		if (!got != !texts[i].result || (got && strcmp(got, texts[i].result) != 0))
			fail_msg("%s, row %zu: \"%s\", expected \"%s\"", dif_subr_name(texts[i].subr), i,
				 got ? got : "(null)", texts[i].result ? texts[i].result : "(null)");
	}
	fx_destroy(fx);
}

static const struct {
	uint32_t subr;
	unsigned nargs;
	struct arg args[3];
	int64_t result;
} numbers[] = {
	{ DIF_SUBR_strlen, 1, { S("") }, 0 },
	{ DIF_SUBR_strlen, 1, { S("abc") }, 3 },
	{ DIF_SUBR_index, 2, { S("foobarbaz"), S("ba") }, 3 },
	{ DIF_SUBR_index, 2, { S("foobarbaz"), S("xx") }, -1 },
	{ DIF_SUBR_index, 3, { S("foobarbaz"), S("ba"), N(4) }, 6 },
	{ DIF_SUBR_index, 3, { S("foobarbaz"), S("ba"), N(-5) }, 3 },
	{ DIF_SUBR_index, 3, { S("foobarbaz"), S("ba"), N(9) }, -1 },
	{ DIF_SUBR_index, 3, { S("foobarbaz"), S(""), N(9) }, 9 },
	{ DIF_SUBR_index, 3, { S("foobarbaz"), S(""), N(100) }, 9 },
	{ DIF_SUBR_index, 2, { S(""), S("") }, 0 },
	{ DIF_SUBR_index, 2, { S(""), S("a") }, -1 },
	{ DIF_SUBR_rindex, 2, { S("foobarbaz"), S("ba") }, 6 },
	{ DIF_SUBR_rindex, 2, { S("foobarbaz"), S("xx") }, -1 },
	{ DIF_SUBR_rindex, 3, { S("foobarbaz"), S("ba"), N(5) }, 3 },
	{ DIF_SUBR_rindex, 3, { S("foobarbaz"), S("ba"), N(-1) }, -1 },
	{ DIF_SUBR_rindex, 3, { S("foobarbaz"), S(""), N(-1) }, 0 },
	{ DIF_SUBR_rindex, 3, { S("foobarbaz"), S(""), N(100) }, 9 },
	{ DIF_SUBR_rindex, 3, { S("foobarbaz"), S("baz"), N(100) }, 6 },
	{ DIF_SUBR_rindex, 2, { S(""), S("") }, 0 },
	{ DIF_SUBR_strtoll, 1, { S(" \t-42abc") }, -42 },
	{ DIF_SUBR_strtoll, 1, { S("+7") }, 7 },
	{ DIF_SUBR_strtoll, 1, { S("") }, 0 },
	{ DIF_SUBR_strtoll, 2, { S("0xfF"), N(16) }, 255 },
	{ DIF_SUBR_strtoll, 2, { S("ff"), N(16) }, 255 },
	{ DIF_SUBR_strtoll, 1, { S("0x10") }, 0 },
	{ DIF_SUBR_strtoll, 2, { S("z"), N(36) }, 35 },
	{ DIF_SUBR_strtoll, 2, { S("1012"), N(2) }, 5 },
	{ DIF_SUBR_htons, 1, { N(0x11223344) }, 0x4433 },
	{ DIF_SUBR_ntohs, 1, { N(0x3344) }, 0x4433 },
	{ DIF_SUBR_htonl, 1, { N(0x11223344) }, 0x44332211 },
	{ DIF_SUBR_ntohl, 1, { N(0x11223344) }, 0x44332211 },
	{ DIF_SUBR_htonll, 1, { N(0x1122334455667788) }, (int64_t)0x8877665544332211 },
	{ DIF_SUBR_ntohll, 1, { N(0x1122334455667788) }, (int64_t)0x8877665544332211 },
	{ DIF_SUBR_getmajor, 1, { N(8 << 20 | 17) }, 8 },
	{ DIF_SUBR_getminor, 1, { N(8 << 20 | 17) }, 17 },
};

static void test_numbers(void **state)
{
	struct fx *fx = fx_create(NULL);
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(numbers); i++) {
		dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT);
		int64_t got = (int64_t)call(fx, numbers[i].subr, numbers[i].nargs, numbers[i].args);
		if (got != numbers[i].result)
			fail_msg("%s, row %zu: %lld, expected %lld", dif_subr_name(numbers[i].subr), i,
				 (long long)got, (long long)numbers[i].result);
	}
	fx_destroy(fx);
}

/* Strings as long as strsize allows, and one longer. */
static void test_strsize(void **state)
{
	struct fx *fx = fx_create(NULL);
	char s[FX_STRSIZE + 8], t[8] = "x";
	(void)state;

	memset(s, 'a', sizeof(s));
	s[FX_STRSIZE - 2] = 0;
	struct arg join[2] = { S(s), S(t) };
	assert_int_equal(strlen(fx_text(fx, call(fx, DIF_SUBR_strjoin, 2, join))), FX_STRSIZE - 1);
	t[1] = 'y';
	t[2] = 0;
	call_faults(fx, DIF_SUBR_strjoin, 2, join, DIF_FAULT_NOSCRATCH);
	s[FX_STRSIZE - 2] = 'a';
	s[FX_STRSIZE + 4] = 0;
	assert_int_equal(call(fx, DIF_SUBR_strlen, 1, join), FX_STRSIZE);
	/* The published function stops 5 bytes before the end. */
	assert_int_equal(strlen(fx_text(fx, call(fx, DIF_SUBR_cleanpath, 1, join))), FX_STRSIZE - 5);
	fx_destroy(fx);
}

/* --- strtok ------------------------------------------------------------------------------------ */

static void test_strtok(void **state)
{
	struct fx *fx = fx_create(NULL);
	const struct arg first[2] = { S("::one:two;;three"), S(":;") }, next[2] = { N(0), S(":;") };
	(void)state;

	assert_int_equal(call(fx, DIF_SUBR_strtok, 2, next), 0); /* nothing saved yet */
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_strtok, 2, first)), "one");
	dif_vm_begin_clause(&fx->vm); /* the next clause of the same firing continues */
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_strtok, 2, next)), "two");
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_strtok, 2, next)), "three");
	assert_int_equal(call(fx, DIF_SUBR_strtok, 2, next), 0);
	assert_int_equal(call(fx, DIF_SUBR_strtok, 2, next), 0);

	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_strtok, 2, first)), "one");
	dif_vm_begin(&fx->vm, DIF_FUEL_DEFAULT); /* another firing: forgotten */
	assert_int_equal(call(fx, DIF_SUBR_strtok, 2, next), 0);

	const struct arg only[2] = { S(":::"), S(":") }, whole[2] = { S("abc"), S("") };
	assert_int_equal(call(fx, DIF_SUBR_strtok, 2, only), 0);
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_strtok, 2, whole)), "abc");
	fx_destroy(fx);
}

/* --- memory --------------------------------------------------------------------------------------- */

static void test_copyin(void **state)
{
	struct fx *fx = fx_create(NULL);
	(void)state;

	memcpy(fx->world.user, "user string", sizeof("user string"));
	const struct arg in[2] = { N(FX_USER), N(12) }, limited[2] = { N(FX_USER), N(4) };
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_copyin, 2, in)), "user string");
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_copyinstr, 1, in)), "user string");
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_copyinstr, 2, limited)), "user");
	const struct arg kernel[2] = { N(FX_KERNEL), N(4) }, none[2] = { N(0), N(4) };
	call_faults(fx, DIF_SUBR_copyin, 2, kernel, DIF_FAULT_BADADDR);
	call_faults(fx, DIF_SUBR_copyinstr, 1, kernel, DIF_FAULT_BADADDR);
	call_faults(fx, DIF_SUBR_copyinstr, 1, none, DIF_FAULT_BADADDR);
	const struct arg huge[2] = { N(FX_USER), N(FX_SCRATCH + 1) }, wraps[2] = { N(FX_USER), N(-1) };
	call_faults(fx, DIF_SUBR_copyin, 2, huge, DIF_FAULT_NOSCRATCH);
	call_faults(fx, DIF_SUBR_copyin, 2, wraps, DIF_FAULT_NOSCRATCH);

	dif_vm_begin_clause(&fx->vm);
	const struct arg size = N(16);
	uint64_t scratch = call(fx, DIF_SUBR_alloca, 1, &size);
	const struct arg into[3] = { N(FX_USER), N(12), N(scratch) },
			 wild[3] = { N(FX_USER), N(12), N(FX_KERNEL) };
	call(fx, DIF_SUBR_copyinto, 3, into);
	assert_string_equal(fx_text(fx, scratch), "user string");
	call_faults(fx, DIF_SUBR_copyinto, 3, wild, DIF_FAULT_BADADDR);
	const struct arg over[3] = { N(FX_USER), N(17), N(scratch) };
	call_faults(fx, DIF_SUBR_copyinto, 3, over, DIF_FAULT_BADADDR);

	/* From scratch that runs into the copy itself: as it was before the copy. */
	const struct arg own[2] = { N(scratch + 5), N(24) };
	uint64_t copy = call(fx, DIF_SUBR_copyin, 2, own);
	assert_int_equal(copy, scratch + 16);
	assert_string_equal(fx_text(fx, copy), "string");
	assert_string_equal(fx_text(fx, copy + 11), ""); /* not "string" again */
	fx_destroy(fx);
}

static void test_bcopy(void **state)
{
	struct fx *fx = fx_create(NULL);
	const struct arg size = N(16);
	(void)state;

	memcpy(fx->world.kernel, "kernel", sizeof("kernel"));
	uint64_t scratch = call(fx, DIF_SUBR_alloca, 1, &size);
	assert_int_equal(scratch % 8, 0);
	const struct arg ok[3] = { N(FX_KERNEL), N(scratch), N(7) };
	call(fx, DIF_SUBR_bcopy, 3, ok);
	assert_string_equal(fx_text(fx, scratch), "kernel");
	const struct arg outside[3] = { N(FX_KERNEL), N(scratch + 10), N(7) };
	call_faults(fx, DIF_SUBR_bcopy, 3, outside, DIF_FAULT_BADADDR);
	const struct arg global[3] = { N(FX_KERNEL), N(dif_window_addr(DIF_SEG_GLOBALS, 0)), N(0) };
	call_faults(fx, DIF_SUBR_bcopy, 3, global, DIF_FAULT_BADADDR);
	const struct arg wraps[3] = { N(FX_KERNEL), N(scratch), N(-1) };
	call_faults(fx, DIF_SUBR_bcopy, 3, wraps, DIF_FAULT_BADADDR);
	const struct arg huge = N(FX_SCRATCH);
	call_faults(fx, DIF_SUBR_alloca, 1, &huge, DIF_FAULT_NOSCRATCH);
	fx_destroy(fx);
}

static void test_copyout(void **state)
{
	struct fx *fx = fx_create(NULL);
	(void)state;

	for (int i = 0; i < 1000; i++)
		fx->world.kernel[i] = (uint8_t)(i * 7 + 1);
	const struct arg out[3] = { N(FX_KERNEL), N(FX_USER), N(1000) };
	call(fx, DIF_SUBR_copyout, 3, out);
	assert_memory_equal(fx->world.user, fx->world.kernel, 1000);
	const struct arg text[3] = { S("text"), N(FX_USER), N(100) },
			 part[3] = { S("longer"), N(FX_USER), N(2) };
	call(fx, DIF_SUBR_copyoutstr, 3, text);
	assert_string_equal((char *)fx->world.user, "text");
	call(fx, DIF_SUBR_copyoutstr, 3, part);
	assert_string_equal((char *)fx->world.user, "loxt");
	const struct arg wild[3] = { N(FX_KERNEL), N(FX_KERNEL), N(8) };
	call_faults(fx, DIF_SUBR_copyout, 3, wild, DIF_FAULT_BADADDR);
	struct dif_vm_ops ops = fx_ops;
	ops.store_user = NULL;
	ops.subr = NULL;
	fx->vm.ops = &ops;
	call_faults(fx, DIF_SUBR_copyout, 3, out, DIF_FAULT_ILLOP);
	const struct arg one = N(1);
	call_faults(fx, DIF_SUBR_progenyof, 1, &one, DIF_FAULT_ILLOP);
	fx_destroy(fx);
}

static void test_memref_memstr(void **state)
{
	struct fx *fx = fx_create(NULL);
	const struct arg ref[2] = { N(FX_KERNEL), N(24) };
	uint64_t pair[2];
	(void)state;

	uint64_t addr = call(fx, DIF_SUBR_memref, 2, ref);
	struct dif_rtype type = { DIF_TYPE_CTF, DIF_CTF_ARRAY, DIF_TF_BYREF, 0, 16 };
	assert_int_equal(dif_vm_copy(&fx->vm, &type, addr, pair, 16), DIF_FAULT_NONE);
	assert_int_equal(pair[0], FX_KERNEL);
	assert_int_equal(pair[1], 24);
	memcpy(fx->world.kernel, "a\0bc\0d", 6);
	const struct arg str[3] = { N(FX_KERNEL), N(' '), N(6) }, huge[3] = { N(FX_KERNEL), N(' '), N(4097) };
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_memstr, 3, str)), "a bc ");
	call_faults(fx, DIF_SUBR_memstr, 3, huge, DIF_FAULT_ILLOP);
	fx_destroy(fx);
}

/* --- numbers and the environment --------------------------------------------------------------------- */

static void test_rand_and_bases(void **state)
{
	struct fx *fx = fx_create(NULL);
	uint64_t seen = 0, last = 0;
	(void)state;

	for (int i = 0; i < 64; i++) {
		uint64_t v = call(fx, DIF_SUBR_rand, 0, NULL);
		assert_int_not_equal(v, last);
		seen |= v;
		last = v;
	}
	assert_int_equal(
	    seen, UINT64_MAX); /* every bit is set in one of 64 draws, but for a negligible probability */
	static const int64_t bad[] = { -1, 0, 1, 37 };
	for (size_t i = 0; i < OT_ARRAY_SIZE(bad); i++) {
		const struct arg to[2] = { N(5), N(bad[i]) }, from[2] = { S("5"), N(bad[i]) };
		call_faults(fx, DIF_SUBR_lltostr, 2, to, DIF_FAULT_ILLOP);
		call_faults(fx, DIF_SUBR_strtoll, 2, from, DIF_FAULT_ILLOP);
	}
	fx_destroy(fx);
}

static void test_environment(void **state)
{
	static const uint32_t values[] = {
		DIF_SUBR_mutex_owned,     DIF_SUBR_mutex_owner,    DIF_SUBR_mutex_type_adaptive,
		DIF_SUBR_mutex_type_spin, DIF_SUBR_rw_read_held,   DIF_SUBR_rw_write_held,
		DIF_SUBR_rw_iswriter,     DIF_SUBR_progenyof,      DIF_SUBR_msgdsize,
		DIF_SUBR_msgsize,         DIF_SUBR_sx_shared_held, DIF_SUBR_sx_exclusive_held,
		DIF_SUBR_sx_isexclusive,
	};
	struct fx *fx = fx_create(NULL);
	const struct arg args[2] = { N(5), N(6) };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++)
		assert_int_equal(call(fx, values[i], 1, args), values[i] * 100 + 5);
	assert_int_equal(call(fx, DIF_SUBR_speculation, 0, NULL), DIF_SUBR_speculation * 100);
	/* without the offsets of the kernel's types */
	call_faults(fx, DIF_SUBR_d_path, 1, args, DIF_FAULT_BADADDR);
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_ddi_pathname, 2, args)), "/path/of/5");
	call_faults(fx, DIF_SUBR_getf, 1, args, DIF_FAULT_ILLOP);
	fx_destroy(fx);
}

/* --- addresses ------------------------------------------------------------------------------------------ */

static const struct {
	uint8_t a[16];
	const char *ntop, *ntoa6;
} v6[] = {
	{ { 0 }, "::", "::" },
	{ { [15] = 1 }, "::1", "::1" },
	{ { 0xfe, 0x80, [15] = 1 }, "fe80::1", "fe80::1" },
	{ { 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0 },
	  "2001:db8:0:1::",
	  "2001:db8:0:1::" },
	{ { 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0xab, 0xcd },
	  "1:2:3:4:5:6:7:abcd",
	  "1:2:3:4:5:6:7:abcd" },
	/* One zero group alone is not compressed. */
	{ { 0, 1, 0, 0, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8 }, "1:0:3:4:5:6:7:8", "1:0:3:4:5:6:7:8" },
	{ { 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 8 }, "1:0:0:4::8", "1:0:0:4::8" },
	{ { [10] = 0xff, 0xff, 192, 168, 1, 20 }, "::ffff:192.168.1.20", "192.168.1.20" },
};

static void test_addresses(void **state)
{
	struct fx *fx = fx_create(NULL);
	const struct arg inet6[2] = { N(10), N(FX_KERNEL) }, inet[2] = { N(2), N(FX_KERNEL) };
	const struct arg addr = N(FX_KERNEL), bad[2] = { N(3), N(FX_KERNEL) }, null[2] = { N(2), N(0) };
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(v6); i++) {
		memcpy(fx->world.kernel, v6[i].a, 16);
		assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_inet_ntop, 2, inet6)), v6[i].ntop);
		assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_inet_ntoa6, 1, &addr)), v6[i].ntoa6);
	}
	memcpy(fx->world.kernel, "\x0a\xff\x00\x01", 4);
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_inet_ntoa, 1, &addr)), "10.255.0.1");
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_inet_ntop, 2, inet)), "10.255.0.1");
	call_faults(fx, DIF_SUBR_inet_ntop, 2, bad, DIF_FAULT_ILLOP);
	call_faults(fx, DIF_SUBR_inet_ntop, 2, null, DIF_FAULT_BADADDR);

	const struct arg ether[2] = { N(1), N(FX_KERNEL) }, ib[2] = { N(32), N(FX_KERNEL) };
	memset(fx->world.kernel, 0xa5, 20);
	assert_string_equal(fx_text(fx, call(fx, DIF_SUBR_link_ntop, 2, ether)), "a5:a5:a5:a5:a5:a5");
	assert_int_equal(strlen(fx_text(fx, call(fx, DIF_SUBR_link_ntop, 2, ib))), 59);
	call_faults(fx, DIF_SUBR_link_ntop, 2, inet, DIF_FAULT_ILLOP);
	fx_destroy(fx);
}

/* Every subroutine that takes a string faults on NULL, and never with scratch gone. */
static void test_string_faults(void **state)
{
	static const uint32_t subrs[] = { DIF_SUBR_strlen,    DIF_SUBR_strjoin,  DIF_SUBR_strchr,
					  DIF_SUBR_strrchr,   DIF_SUBR_strstr,   DIF_SUBR_substr,
					  DIF_SUBR_index,     DIF_SUBR_rindex,   DIF_SUBR_toupper,
					  DIF_SUBR_tolower,   DIF_SUBR_basename, DIF_SUBR_dirname,
					  DIF_SUBR_cleanpath, DIF_SUBR_json,     DIF_SUBR_strtoll };
	struct fx *fx = fx_create(NULL);
	const struct arg fill = N(FX_SCRATCH);
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(subrs); i++) {
		const struct arg args[2] = { N(0), N(0) };
		size_t min = strlen(dif_subr_find(subrs[i])->required);
		assert_true(min == 1 || min == 2);
		call_faults(fx, subrs[i], min > 1 ? 2 : 1, args, DIF_FAULT_BADADDR);
		assert_int_equal(fx->vm.fault_addr, 0);
	}
	call(fx, DIF_SUBR_alloca, 1, &fill);
	static const uint32_t makers[] = { DIF_SUBR_toupper, DIF_SUBR_basename, DIF_SUBR_dirname,
					   DIF_SUBR_cleanpath, DIF_SUBR_copyinstr };
	for (size_t i = 0; i < OT_ARRAY_SIZE(makers); i++) {
		const struct arg text = S("text"), user = N(FX_USER);
		call_faults(fx, makers[i], 1, makers[i] == DIF_SUBR_copyinstr ? &user : &text,
			    DIF_FAULT_NOSCRATCH);
	}
	const struct arg execname[1] = { S("x") };
	call_faults(fx, DIF_SUBR_lltostr, 1, execname, DIF_FAULT_NOSCRATCH);
	fx_destroy(fx);
}

static void test_every_subroutine_was_called(void **state)
{
	(void)state;
	for (uint32_t subr = 0; subr < OT_ARRAY_SIZE(covered); subr++) {
		if (dif_subr_name(subr) && !covered[subr])
			fail_msg("no test calls %s", dif_subr_name(subr));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strsize),
		cmocka_unit_test(test_strtok),
		cmocka_unit_test(test_copyin),
		cmocka_unit_test(test_bcopy),
		cmocka_unit_test(test_copyout),
		cmocka_unit_test(test_memref_memstr),
		cmocka_unit_test(test_rand_and_bases),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_string_faults),
		cmocka_unit_test(test_every_subroutine_was_called),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
