/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which Python it is: by its version, and by the offsets that it says itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "vmm-probe/engine/wire/facts.h"
#include "vmm-probe/session/user_python.h"

static void by_version(void **state)
{
	struct vp_python p;

	(void)state;
	assert_true(vp_python_by_version(0x030b02f0, &p));
	assert_int_equal(p.runs, VP_PYTHON_RECORDS);
	assert_int_equal(p.frame_mark, 68);
	assert_true(vp_python_by_version(0x030c01f0, &p));
	assert_int_equal(p.runs, VP_PYTHON_SHIMS);
	assert_int_equal(p.frame_mark, 70);
	assert_false(vp_python_by_version(0x030a0df0, &p));
	assert_false(vp_python_by_version(0x030d00f0, &p)); /* it would have said its offsets */
	assert_false(vp_python_by_version(0x1030b02f0, &p));
	assert_false(vp_python_by_version(0, &p));
}

/* Those of 3.13.0, as its headers give them; every other word is one that must not matter. */
static void words_of_3_13(uint64_t words[VP_PYTHON_OFFSETS])
{
	static const struct {
		unsigned word;
		uint64_t offset;
	} known[] = {
		{ 1, 0x030d00f0 }, { 2, 0 },    { 5, 632 },  { 8, 7264 }, { 9, 7344 }, { 21, 8 },
		{ 23, 72 },        { 24, 152 }, { 29, 8 },   { 30, 0 },   { 31, 56 },  { 33, 70 },
		{ 35, 112 },       { 36, 120 }, { 38, 136 }, { 39, 68 },  { 43, 200 }, { 45, 8 },
		{ 65, 16 },        { 66, 32 },  { 68, 32 },  { 69, 16 },  { 70, 40 },
	};

	memset(words, 0xff, VP_PYTHON_OFFSETS * sizeof(*words));
	memcpy(words, "xdebugpy", 8);
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		words[known[i].word] = known[i].offset;
}

static void by_offsets(void **state)
{
	static const struct vp_python want = {
		.interpreters = 632,
		.runs = VP_PYTHON_SHIMS,
		.thread_record = VP_NO_OFFSET,
		.thread_frame = 72,
		.interpreter_next = 7264,
		.interpreter_threads = 7344,
		.thread_next = 8,
		.thread_id = 152,
		.frame_previous = 8,
		.frame_instruction = 56,
		.frame_mark = 70,
		.object_type = 8,
		.code_filename = 112,
		.code_name = 120,
		.code_first_line = 68,
		.code_lines = 136,
		.code_instructions = 200,
		.string_length = 16,
		.string_state = 32,
		.string_ascii = 40,
		.string_wide = 56,
		.bytes_size = 16,
		.bytes_data = 32,
	};
	uint64_t words[VP_PYTHON_OFFSETS];
	struct vp_python p;

	(void)state;
	words_of_3_13(words);
	assert_true(vp_python_by_offsets(words, &p));
	assert_memory_equal(&p, &want, sizeof(p));
}

/* Words that are a process's, which can be anything. */
static void refused(void **state)
{
	static const unsigned used[] = { 0,  1,  2,  5,  8,  9,  21, 23, 24, 29, 30, 31,
					 33, 35, 36, 38, 39, 43, 45, 65, 66, 68, 69, 70 };
	uint64_t words[VP_PYTHON_OFFSETS];
	struct vp_python p;

	(void)state;
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		words_of_3_13(words);
		words[used[i]] = 0x100000001;
		assert_false(vp_python_by_offsets(words, &p));
	}
	words_of_3_13(words);
	words[1] = 0x030e00f0;
	assert_false(vp_python_by_offsets(words, &p));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_version),
		cmocka_unit_test(by_offsets),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
