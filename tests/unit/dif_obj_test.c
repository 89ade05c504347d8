/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names, globs, probe descriptions, and the listing to the byte. */
#include "tests/unit/dif_fixture.h"

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(dif_op_name(41), "ldgs");
	assert_null(dif_op_name(80));
	assert_string_equal(dif_var_name(0x118), "execname");
	assert_null(dif_var_name(0x500));
	assert_string_equal(dif_subr_name(12), "strlen");
	assert_null(dif_subr_name(99));
	assert_string_equal(dif_action_name(0x0003), "printf");
	assert_string_equal(dif_action_name(0x0707), "quantize");
	assert_null(dif_action_name(0x0a00));
	assert_string_equal(dif_fault_text(DIF_FAULT_DIVZERO), "divide-by-zero");
	assert_string_equal(dif_fault_text((enum dif_fault)77), "unknown fault");
	assert_true(dif_fault_has_address(DIF_FAULT_BADADDR));
	assert_false(dif_fault_has_address(DIF_FAULT_ILLOP));
	assert_true(dif_var_is_string(DIF_VAR_guest));
	assert_false(dif_var_is_string(DIF_VAR_pid));
}

static const struct {
	const char *pattern, *text;
	bool match;
} globs[] = {
	{ "", "anything", true },
	{ "abc", "abc", true },
	{ "abc", "abcd", false },
	{ "abcd", "abc", false },
	{ "*", "", true },
	{ "*", "x", true },
	{ "vfs_*", "vfs_read", true },
	{ "vfs_*", "avfs_", false },
	{ "*_read", "vfs_read", true },
	{ "*a*b*c", "xaybzc", true },
	{ "*a*b*c", "xaybz", false },
	{ "a?c", "abc", true },
	{ "a?c", "ac", false },
	{ "[abc]", "b", true },
	{ "[a-c]x", "bx", true },
	{ "[a-c]", "d", false },
	{ "[!a-c]", "d", true },
	{ "[!a-c]", "a", false },
	{ "[]]", "]", true },
	{ "[!]]", "]", false },
	{ "[a-]", "-", true },
	{ "[", "[", true },
	{ "[ab", "[ab", true },
	{ "\\*", "*", true },
	{ "\\*", "x", false },
	{ "[\\]]", "]", true },
	{ "a\\", "a\\", true },
	{ "a**b", "ab", true },
	{ "?*", "", false },
	{ "ABC", "abc", false },
};

static void test_globs(void **state)
{
	char pattern[512], text[4096];
	(void)state;

	for (size_t i = 0; i < OT_ARRAY_SIZE(globs); i++) {
		if (dif_glob_match(globs[i].pattern, globs[i].text) != globs[i].match)
			fail_msg("\"%s\" and \"%s\"", globs[i].pattern, globs[i].text);
	}
	assert_true(dif_glob_is_pattern("a*"));
	assert_false(dif_glob_is_pattern("plain_name"));
	/* What is exponential for a naive matcher ends at once here. */
	for (size_t i = 0; i < sizeof(pattern); i++)
		pattern[i] = i % 2 ? 'a' : '*';
	pattern[sizeof(pattern) - 2] = 'b';
	pattern[sizeof(pattern) - 1] = 0;
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_false(dif_glob_match(pattern, text));
}

static void test_probe_descriptions(void **state)
{
	struct dif_probedesc d = { "", "fbt", "", "vfs_*", "entry", 0 };
	struct ot_buf buf;
	(void)state;

	ot_buf_init(&buf);
	dif_probedesc_print(&d, &buf);
	assert_string_equal(ot_buf_str(&buf), "fbt::vfs_*:entry");
	ot_buf_clear(&buf);
	d.guest = "web*";
	dif_probedesc_print(&d, &buf);
	assert_string_equal(ot_buf_str(&buf), "web*:fbt::vfs_*:entry");
	ot_buf_deinit(&buf);
}

/* The listing of @o, without the address in its heading. */
static void expect_listing(const struct fx_object *o, const char *expected)
{
	struct ot_buf buf;
	char head[64];

	ot_buf_init(&buf);
	dif_object_list(&o->obj, &buf);
	snprintf(head, sizeof(head), "\nDIFO %p ", (const void *)&o->obj);
	assert_memory_equal(ot_buf_str(&buf), head, strlen(head));
	assert_string_equal(ot_buf_str(&buf) + strlen(head), expected);
	ot_buf_deinit(&buf);
}

/* The example that every text about -S shows: /execname == "csh"/ */
static void test_classic_listing(void **state)
{
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	fx_op(&o, dif_insn_index(DIF_OP_ldgs, DIF_VAR_execname, 1));
	fx_sets(&o, "csh", 2);
	fx_op(&o, dif_insn(DIF_OP_scmp, 1, 2, 0));
	fx_op(&o, dif_insn_branch(DIF_OP_be, 6));
	fx_op(&o, dif_insn(DIF_OP_mov, 0, 0, 2));
	fx_op(&o, dif_insn_branch(DIF_OP_ba, 7));
	fx_setx(&o, 1, 2);
	fx_ret(&o, 2);
	o.obj.ret = (struct dif_rtype){ DIF_TYPE_CTF, DIF_CTF_INTEGER, 0, 0, 4 };
	fx_var(&o, "execname", DIF_VAR_execname, DIF_VARKIND_SCALAR, DIF_SCOPE_GLOBAL,
	       (struct dif_rtype){ DIF_TYPE_STRING, 0, DIF_TF_BYREF, 0, 256 });
	o.vars[0].flags = DIF_VARF_REF;
	expect_listing(&o, "returns D type (integer) (size 4)\n"
			   "OFF OPCODE      INSTRUCTION\n"
			   "00: 29011801    ldgs DT_VAR(280), %r1\t\t! DT_VAR(280) = \"execname\"\n"
			   "01: 26000102    sets DT_STRING[1], %r2\t\t! \"csh\"\n"
			   "02: 27010200    scmp %r1, %r2\n"
			   "03: 12000006    be   6\n"
			   "04: 0e000002    mov  %r0, %r2\n"
			   "05: 11000007    ba   7\n"
			   "06: 25000002    setx DT_INTEGER[0], %r2\t\t! 0x1\n"
			   "07: 23000002    ret  %r2\n"
			   "\n"
			   "NAME             ID   KND SCP FLAG TYPE\n"
			   "execname         118  scl glb r    string (unknown) by ref (size 256)\n");
}

static void test_other_listing(void **state)
{
	struct fx_object o;
	(void)state;

	fx_object_init(&o);
	fx_sets(&o, "a\"b\n\x01", 1);
	fx_op(&o, dif_insn(DIF_OP_flushts, 0, 0, 0));
	fx_op(&o, dif_insn(DIF_OP_pushtr, DIF_TYPE_STRING, 0, 1));
	fx_op(&o, dif_insn_index(DIF_OP_call, DIF_SUBR_strlen, 2));
	fx_op(&o, dif_insn_index(DIF_OP_stts, 0x500, 2));
	fx_op(&o, dif_insn(DIF_OP_ldga, DIF_VAR_uregs, 1, 2));
	fx_op(&o, dif_insn(DIF_OP_lduw, 2, 0, 3));
	fx_op(&o, dif_insn(DIF_OP_stx, 1, 0, 2));
	fx_op(&o, dif_insn(DIF_OP_tst, 3, 0, 0));
	fx_op(&o, dif_insn(DIF_OP_add, 1, 2, 3));
	fx_op(&o, 0xff000000);
	fx_ret(&o, 0);
	fx_var(&o, "mine", 0x500, DIF_VARKIND_SCALAR, DIF_SCOPE_THREAD, FX_INT);
	fx_var(&o, "arr", 0x501, DIF_VARKIND_ARRAY, DIF_SCOPE_GLOBAL, FX_STRING);
	expect_listing(&o, "returns D type (integer) (size 8)\n"
			   "OFF OPCODE      INSTRUCTION\n"
			   "00: 26000101    sets DT_STRING[1], %r1\t\t! \"a\\\"b\\n\\001\"\n"
			   "01: 33000000    flushts\n"
			   "02: 30010001    pushtr DT_TYPE(STRING), %r0, %r1\n"
			   "03: 2f000c02    call DIF_SUBR(12), %r2\t\t! strlen\n"
			   "04: 2d050002    stts %r2, DT_VAR(1280)\t\t! DT_VAR(1280) = \"mine\"\n"
			   "05: 28020102    ldga DT_VAR(2), %r1, %r2\t\t! DT_VAR(2) = \"uregs\"\n"
			   "06: 21020003    lduw [%r2], %r3\n"
			   "07: 3f010002    stx  %r1, [%r2]\n"
			   "08: 10030000    tst  %r3\n"
			   "09: 07010203    add  %r1, %r2, %r3\n"
			   "10: ff000000    ILLOP\n"
			   "11: 23000000    ret  %r0\n"
			   "\n"
			   "NAME             ID   KND SCP FLAG TYPE\n"
			   "mine             500  scl tls r/w  D type (integer) (size 8)\n"
			   "arr              501  arr glb r/w  string (unknown) by ref (size 256)\n");
}

/* An unverified object can be listed: any index in it may be out of bounds. */
static void test_hostile_listing(void **state)
{
	unsigned seed = 7;
	(void)state;

	for (int round = 0; round < 200; round++) {
		struct fx_object *o = malloc(sizeof(*o));
		struct ot_buf buf;
		assert_non_null(o);
		fx_object_init(o);
		for (int i = 0; i < 50; i++)
			fx_op(o, (uint32_t)rand_r(&seed) << 1 ^ (uint32_t)rand_r(&seed));
		fx_var(o, "x", 0x500, 9, 9, (struct dif_rtype){ 9, 99, 9, 9, 9 });
		o->vars[0].name = (uint32_t)rand_r(&seed);
		o->strs[o->obj.str_len - 1] = 'x';
		ot_buf_init(&buf);
		dif_object_list(&o->obj, &buf);
		assert_false(buf.failed);
		ot_buf_deinit(&buf);
		free(o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_globs),
		cmocka_unit_test(test_probe_descriptions),
		cmocka_unit_test(test_classic_listing),
		cmocka_unit_test(test_other_listing),
		cmocka_unit_test(test_hostile_listing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
