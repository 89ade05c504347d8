/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/arch/x86/insn/shape: how long instructions are. The lengths are the manual's, and no
 * disassembler's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/compiler.h"
#include "vmm-probe/arch/x86/insn/shape.h"
#include "vmm-probe/arch/x86/static_branch.h"

struct row {
	const char *bytes;
	uint8_t size, length; /* of the bytes; that the instruction takes of them, 0: there is none */
};

#define ALL(bytes)                                          \
	{                                                   \
		bytes, sizeof(bytes) - 1, sizeof(bytes) - 1 \
	}
#define NONE(bytes)                         \
	{                                   \
		bytes, sizeof(bytes) - 1, 0 \
	}
#define FIRST(n, bytes)                     \
	{                                   \
		bytes, sizeof(bytes) - 1, n \
	}

/* From memory that ends with the instruction, so that a sanitizer sees any byte read behind it. */
static uint8_t length_of(const char *bytes, uint8_t size)
{
	uint8_t *copy = malloc(size ? size : 1), length;

	assert_non_null(copy);
	memcpy(copy, bytes, size);
	length = vp_insn_length(copy, size);
	free(copy);
	return length;
}

static void check(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct row *r = &rows[i];
		const uint8_t *b = (const uint8_t *)r->bytes;
		uint8_t length = length_of(r->bytes, r->size);

		if (length != r->length)
			fail_msg("%02x %02x %02x …: %u, not %u", b[0], r->size > 1 ? b[1] : 0,
				 r->size > 2 ? b[2] : 0, length, r->length);
		/* Cut off anywhere it is none. */
		for (uint8_t cut = 0; cut < r->length; cut++)
			assert_int_equal(length_of(r->bytes, cut), 0);
	}
}

static void one_byte_opcodes(void **state)
{
	static const struct row rows[] = {
		ALL("\x90"),
		ALL("\x66\x90"),
		ALL("\xf3\x90"),
		ALL("\x55"),
		ALL("\x41\x57"),
		ALL("\xc3"),
		ALL("\xf3\xc3"),
		ALL("\x2e\xe9\x00\x00\x00\x00"),
		ALL("\xc2\x08\x00"),
		ALL("\xcb"),
		ALL("\xca\x10\x00"),
		ALL("\xc8\x10\x00\x01"),
		ALL("\xcc"),
		ALL("\xcd\x80"),
		ALL("\xcf"),
		ALL("\x48\xcf"),
		ALL("\xd6"),
		ALL("\xf1"),
		ALL("\xf4"),
		ALL("\x04\x01"),
		ALL("\x05\x01\x02\x03\x04"),
		ALL("\x66\x05\x01\x02"),
		ALL("\x66\x48\x05\x01\x02\x03\x04"),
		ALL("\xb8\x01\x02\x03\x04"),
		ALL("\x66\xb8\x01\x02"),
		ALL("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08"),
		/* a REX followed by another prefix is ignored */
		ALL("\x48\x66\xb8\x01\x02"),
		ALL("\x48\x2e\xb8\x01\x02\x03\x04"),
		ALL("\xa0\x01\x02\x03\x04\x05\x06\x07\x08"),
		ALL("\x67\xa1\x01\x02\x03\x04"),
		ALL("\x68\x01\x02\x03\x04"),
		ALL("\x66\x68\x01\x02"),
		ALL("\x6a\x01"),
		ALL("\x6b\xc0\x01"),
		ALL("\x69\xc0\x01\x02\x03\x04"),
		ALL("\x66\x69\xc0\x01\x02"),
		ALL("\xe8\x01\x02\x03\x04"),
		ALL("\x66\x48\xe8\x01\x02\x03\x04"),
		ALL("\xeb\x01"),
		ALL("\x75\x01"),
		ALL("\xe3\x01"),
		ALL("\xe4\x60"),
		ALL("\xec"),
		ALL("\xf6\xc0\x01"),
		ALL("\xf6\xc8\x01"),
		ALL("\xf6\xd0"),
		ALL("\xf7\xc0\x01\x02\x03\x04"),
		ALL("\x66\xf7\xc0\x01\x02"),
		ALL("\xf7\xd8"),
		ALL("\xc6\x00\x01"),
		ALL("\xc7\x00\x01\x02\x03\x04"),
		ALL("\x66\xc7\x00\x01\x02"),
		ALL("\xc6\xf8\x01"),
		ALL("\xc7\xf8\x01\x02\x03\x04"),
		ALL("\xff\x2f"),
		ALL("\xff\x28"),
		ALL("\xff\x1f"),
		ALL("\x48\xff\x2f"),
		ALL("\x41\xff\xe3"),
		ALL("\xff\x25\x01\x02\x03\x04"),
		ALL("\x8f\x00"),
		ALL("\x9b"),
		ALL("\xd9\x3c\x24"),
		ALL("\xf0\x48\x0f\xb1\x0f"),
	};

	(void)state;
	check(rows, OT_ARRAY_SIZE(rows));
}

static void operands(void **state)
{
	static const struct row rows[] = {
		ALL("\x8b\x00"),
		ALL("\x8b\x40\x01"),
		ALL("\x8b\x80\x01\x02\x03\x04"),
		ALL("\x8b\xc0"),
		ALL("\x8b\x05\x01\x02\x03\x04"),
		ALL("\x8b\x04\x24"),
		ALL("\x8b\x44\x24\x08"),
		ALL("\x8b\x84\x24\x01\x02\x03\x04"),
		ALL("\x8b\x04\x25\x01\x02\x03\x04"),
		ALL("\x8b\x44\x25\x01"),
		ALL("\x65\x48\x8b\x04\x25\x01\x02\x03\x04"),
		ALL("\x67\x8b\x04\x24"),
		ALL("\x8b\x45\x00"),
		ALL("\x41\x8b\x45\x00"),
		ALL("\x81\x78\x01\x01\x02\x03\x04"),
		ALL("\x83\x78\x01\x01"),
		/* fifteen bytes are the most */
		ALL("\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x8b\x80\x01\x02\x03\x04"),
		NONE("\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x2e\x8b\x80\x01\x02\x03\x04"),
	};

	(void)state;
	check(rows, OT_ARRAY_SIZE(rows));
}

static void behind_0f(void **state)
{
	static const struct row rows[] = {
		ALL("\x0f\x0b"),
		ALL("\x0f\xb9\xcc"),
		ALL("\x0f\xb9\x40\x10"),
		ALL("\x67\x0f\xb9\x40\x10"),
		ALL("\x0f\xff\xc0"),
		ALL("\x0f\x05"),
		ALL("\x0f\x07"),
		ALL("\x0f\xa2"),
		ALL("\x0f\x31"),
		ALL("\x0f\x01\xf8"),
		ALL("\x0f\x01\x10"),
		ALL("\x0f\x00\xc8"),
		ALL("\x0f\x01\xca"),
		ALL("\x0f\x01\xee"),
		ALL("\xf3\x0f\x01\xfe"),
		/* control and debug registers: whatever the upper bits, no memory */
		ALL("\x0f\x20\xd8"),
		ALL("\x0f\x22\x18"),
		ALL("\x0f\x23\xf8"),
		ALL("\x0f\x21\x44"),
		ALL("\x0f\x84\x01\x02\x03\x04"),
		NONE("\x66\x0f\x84\x01\x02\x03\x04"),
		NONE("\x66\xe9\x01\x02\x03\x04"),
		ALL("\x0f\x1f\x44\x00\x00"),
		ALL("\xf3\x0f\x1e\xfa"),
		ALL("\x0f\x94\xc0"),
		ALL("\x0f\xb6\xc0"),
		ALL("\x0f\xa4\xc0\x01"),
		ALL("\x0f\xba\xe0\x01"),
		ALL("\x0f\xc8"),
		ALL("\x0f\x77"),
		ALL("\x0f\xc7\x0f"),
		ALL("\x0f\xc2\xc0\x01"),
		ALL("\x66\x0f\x70\xc0\x01"),
		ALL("\x66\x0f\x6f\x00"),
		ALL("\xf3\x0f\xb8\xc0"),
		NONE("\x0f\xb8\xc0\x00\x00\x00"),
		ALL("\x0f\x78\xc0"),
		NONE("\xf2\x0f\x78\xc0\x01\x02"),
		ALL("\x0f\xae\xf0"),
		ALL("\x66\x0f\x38\x00\xc0"),
		ALL("\x0f\x38\xf6\x00"),
		ALL("\x66\x0f\x3a\x0f\xc0\x01"),
		NONE("\xf3\x0f\x3a\xf0\xc0\x01"),
		NONE("\x0f\x04"),
		NONE("\x0f\x24\xc0"),
		NONE("\x0f\x3b\xc0"),
	};

	(void)state;
	check(rows, OT_ARRAY_SIZE(rows));
}

static void vectors(void **state)
{
	static const struct row rows[] = {
		ALL("\xc5\xf8\x77"),
		ALL("\xc5\xf9\x6f\x00"),
		ALL("\xc5\xf9\x70\xc0\x01"),
		ALL("\xc4\xe2\x7d\x18\x00"),
		ALL("\xc4\xe3\x7d\x18\x00\x01"),
		ALL("\xc5\xf8\xc6\xc0\x01"),
		ALL("\x62\xf1\x7c\x48\x10\x40\x01"),
		ALL("\x62\xf1\x7d\x08\x72\xc0\x01"),
		ALL("\x62\xf3\x7d\x08\x25\xc0\x01"),
		ALL("\x62\xf2\x7d\x08\x58\x48\x01"),
		/* with a prefix that is part of them, of an unknown map, and APX */
		NONE("\x66\xc5\xf9\x6f\x00"),
		NONE("\x48\xc5\xf9\x6f\x00"),
		NONE("\xf0\xc5\xf9\x6f\x00"),
		NONE("\xc4\xe7\x7d\x18\x00"),
		NONE("\x62\xf4\x7c\x08\x81\xc0\x01\x02\x03\x04"),
		NONE("\x62\xf1\x78\x48\x10\x00"),
		NONE("\xd5\x00\x90"),
	};

	(void)state;
	check(rows, OT_ARRAY_SIZE(rows));
}

static void what_is_none(void **state)
{
	static const char none[] =
	    "\x06\x07\x0e\x16\x17\x1e\x1f\x27\x2f\x37\x3f\x60\x61\x82\x9a\xce\xd4\xd5\xea";

	(void)state;
	for (size_t i = 0; i < sizeof(none) - 1; i++) {
		char bytes[8] = { none[i] };

		assert_int_equal(length_of(bytes, sizeof(bytes)), 0);
	}
	/* XOP, which is where pop's ModRM names no 0 */
	check((const struct row[]){ NONE("\x8f\xe8\x78\xc0\xc0\x01") }, 1);
	/* what stands behind is not taken */
	check((const struct row[]){ FIRST(2, "\xeb\x01\x90\x90"), FIRST(1, "\xc3\xcc") }, 2);
}

/* What a kernel puts in the place of an int3, and no byte that is an instruction alone. */
static void bytes_of_longer_ones(void **state)
{
	static const char longer[] = "\x0f\x66\xe8\xe9\xeb";

	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		char one = (char)byte;

		assert_int_equal(vp_native_begins_longer((uint8_t)byte), memchr(longer, one, 5) != NULL);
		if (vp_native_begins_longer((uint8_t)byte))
			assert_int_equal(length_of(&one, 1), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_byte_opcodes), cmocka_unit_test(operands),
		cmocka_unit_test(behind_0f),        cmocka_unit_test(vectors),
		cmocka_unit_test(what_is_none),     cmocka_unit_test(bytes_of_longer_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
