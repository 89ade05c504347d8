/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Increments of per-CPU counters: which encodings are one, and which bytes only seem to be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/provider/boundary.h"

#define AT      0xffffffff81234560ull
#define COUNTER 0x1a040ull

/* The displacement from the end of an instruction of @len bytes at AT to the counter. */
static void put_counter(uint8_t *disp, unsigned len)
{
	uint32_t v = (uint32_t)(COUNTER - (AT + len));

	memcpy(disp, &v, sizeof(v));
}

/* The instruction @opcode, with ModRM @modrm, to the counter by RIP, and @after bytes of an immediate. */
static struct vp_increment decoded(uint8_t rex, uint8_t opcode, uint8_t modrm, const void *imm, uint8_t after)
{
	uint8_t code[15] = { 0x65, rex, opcode, modrm };
	struct vp_increment i = { .len = 0 };

	put_counter(code + 4, 8u + after);
	memcpy(code + 8, imm, after);
	if (vp_arch_x86.code->increment(code, 8u + after, AT, &i)) {
		assert_int_equal(i.len, 8 + after);
		assert_int_equal(i.counter, COUNTER);
	}
	return i;
}

static void each_form_is_found(void **state)
{
	static const uint8_t five = 5, minus_128 = 0x80;
	static const uint32_t thousand = 1000;
	struct vp_increment i;
	(void)state;

	i = decoded(0x48, 0xff, 0x05, "", 0); /* incq */
	assert_int_equal(i.by, 1);
	assert_false(i.by_register);
	i = decoded(0x48, 0xff, 0x0d, "", 0); /* decq */
	assert_int_equal(i.by, -1);
	i = decoded(0x48, 0x83, 0x05, &five, 1); /* addq $5 */
	assert_int_equal(i.by, 5);
	i = decoded(0x48, 0x83, 0x2d, &minus_128, 1); /* subq $-128, shorter than addq $128 */
	assert_int_equal(i.by, 128);
	i = decoded(0x48, 0x81, 0x05, &thousand, 4);
	assert_int_equal(i.by, 1000);
	i = decoded(0x4c, 0x01, 0x25, "", 0); /* add %r12 */
	assert_true(i.by_register);
	assert_int_equal(i.reg, 12);
}

static void others_are_not(void **state)
{
	static const uint8_t indexed[] = { 0x65, 0x48, 0xff, 0x04, 0xc5, 0x40, 0xa0, 0x01, 0x00 };
	static const uint8_t by_base[] = { 0x65, 0x48, 0xff, 0x40, 0x08, 0x90, 0x90, 0x90 };
	struct vp_increment i;
	(void)state;

	assert_int_equal(decoded(0x40, 0xff, 0x05, "", 0).len, 0); /* incl */
	assert_int_equal(decoded(0x48, 0x8b, 0x05, "", 0).len, 0); /* mov from it */
	assert_int_equal(decoded(0x48, 0x29, 0x05, "", 0).len, 0); /* sub of a register */
	assert_int_equal(decoded(0x48, 0xff, 0x35, "", 0).len, 0); /* push */
	assert_false(vp_arch_x86.code->increment(indexed, sizeof(indexed), AT, &i));
	assert_false(vp_arch_x86.code->increment(by_base, sizeof(by_base), AT, &i));
	for (unsigned len = 0; len < 8; len++)
		assert_false(
		    vp_arch_x86.code->increment((const uint8_t *)"\x65\x48\xff\x05\0\0\0", len, AT, &i));
}

/* The bytes of an increment inside of another instruction are found, and no instruction begins there. */
static void bytes_inside_are_no_boundary(void **state)
{
	static const uint8_t code[] = {
		0x90,                                                       /* nop */
		0x48, 0xb8, 0x65, 0x48, 0xff, 0x05, 0x10, 0x00, 0x00, 0x00, /* movabs $…, %rax */
		0xcc, 0x65, 0x48, 0xff, 0x05, 0x20, 0x00, 0x00, 0x00,       /* int3, inc */
	};
	struct vp_increment i;
	uint64_t before, after;
	(void)state;

	assert_int_equal(vp_arch_x86.code->find_increment(code, sizeof(code), AT, 0, &i), 3);
	assert_false(vp_boundary_is(code, sizeof(code), 3));
	assert_int_equal(vp_arch_x86.code->find_increment(code, sizeof(code), AT, 4, &i), 12);
	assert_int_equal(i.counter, AT + 20 + 0x20);
	assert_true(vp_boundary_is(code, sizeof(code), 12));
	assert_int_equal(vp_arch_x86.code->find_increment(code, sizeof(code), AT, 13, &i), sizeof(code));
	assert_true(vp_boundary_near(code, sizeof(code), 3, &before, &after));
	assert_int_equal(before, 1);
	assert_int_equal(after, 11);
}

static void what_is_no_code_has_no_boundary(void **state)
{
	static const uint8_t code[] = { 0x90, 0x06, 0x90, 0x90 }; /* 06: invalid in 64-bit mode */
	uint64_t before, after;
	(void)state;

	assert_false(vp_boundary_is(code, sizeof(code), 2));
	assert_false(vp_boundary_near(code, sizeof(code), 3, &before, &after));
	assert_int_equal(before, 1);
	assert_true(vp_boundary_is(code, sizeof(code), 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_is_found),
		cmocka_unit_test(others_are_not),
		cmocka_unit_test(bytes_inside_are_no_boundary),
		cmocka_unit_test(what_is_no_code_has_no_boundary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
