/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks as lines, and symbols: consumer/output/print_stack.c. */
#include "tests/unit/consumer_test_print.h"

static void test_stacks(void **state)
{
	const struct dif_action stack = { .kind = DIF_ACT_stack }, sym = { .kind = DIF_ACT_sym };
	const struct dif_action ustack = { .kind = DIF_ACT_ustack, .arg = 16ull << 32 | 3 };
	uint64_t pcs[] = { 1, 2, 0, 4 };
	uint64_t user[6] = { 77, 0x10, 0x20, 0 };
	struct con_datum d = { &stack, (uint8_t *)pcs, sizeof(pcs) };
	struct output o;

	(void)state;
	output_init(&o);
	o.p.symbols.kernel = output_kernel_name;
	con_print_datum(&o.p, &d, CON_WIDTH_TRACE);
	output_is(&o, "\n              vmlinux`f+0x1\n              vmlinux`f+0x2\n");
	o.opts.stackindent = 2;
	d.size = 8;
	con_print_datum(&o.p, &d, CON_WIDTH_TRACE);
	output_is(&o, "\n  vmlinux`f+0x1\n");
	d.action = &sym;
	con_print_datum(&o.p, &d, CON_WIDTH_KEY);
	output_is(&o, "  vmlinux`f                                         ");

	memcpy(&user[4], "Java\0@note\0", 12);
	d = (struct con_datum){ &ustack, (uint8_t *)user, 48 };
	con_print_datum(&o.p, &d, CON_WIDTH_TRACE);
	output_is(&o, "\n  Java\n  0x20\n    [ note ]\n");
	/* a frame that interprets two of the program's, and one that was not found on the stack */
	user[2] = DIF_FRAME_WITHOUT_PC;
	memcpy(&user[4], "@a\nb\0c\0\0\0\0\0\0\0", 14);
	con_print_datum(&o.p, &d, CON_WIDTH_TRACE);
	output_is(&o, "\n  0x10\n    [ a ]\n    [ b ]\n  c\n");
	output_deinit(&o);
}

/* The names of a frame that has a note, by its pc. */
static const char *note(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, const char *note)
{
	(void)arg;
	(void)guest;
	assert_int_equal(pid, 77);
	assert_string_equal(note, "\x02\xc1\x82");
	return addr == 0x10 ? "A.leaf()V* (A.java:1)\nA.outer()V* (A.java:2)\nA.main()V*" : NULL;
}

/* Functions that are inlined are frames of their own; a note that no one knows leaves the number. */
static void test_notes(void **state)
{
	const struct dif_action jstack = { .kind = DIF_ACT_jstack, .arg = 24ull << 32 | 3 };
	uint64_t user[7] = { 77, 0x10, 0x20, 0x30 };
	struct con_datum d = { &jstack, (uint8_t *)user, sizeof(user) };
	struct con_frames frames;
	struct con_frame frame;
	struct output o;

	(void)state;
	output_init(&o);
	o.opts.stackindent = 2;
	memcpy(&user[4], "\x02\xc1\x82\0\x02\xc1\x82\0@a\0", 11);
	con_print_datum(&o.p, &d, CON_WIDTH_TRACE);
	output_is(&o, "\n  0x10\n  0x20\n  0x30\n    [ a ]\n");
	o.p.symbols.note = note;
	con_print_datum(&o.p, &d, CON_WIDTH_TRACE);
	output_is(
	    &o,
	    "\n  A.leaf()V* (A.java:1)\n  A.outer()V* (A.java:2)\n  A.main()V*\n  0x20\n  0x30\n    [ a ]\n");
	assert_true(con_frames_init(&frames, &o.p, &d));
	for (unsigned i = 0; i < 3; i++) {
		assert_true(con_frames_next(&frames, &frame));
		assert_int_equal(frame.pc, 0x10);
		assert_false(frame.again);
	}
	output_deinit(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_notes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
