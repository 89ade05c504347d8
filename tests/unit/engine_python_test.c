/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jstack(): the frames that an interpreter runs, beside those of the stack. */
#include "tests/unit/engine_python.h"

#include <stdio.h>
#include <string.h>

static void runs(void **state)
{
	struct ep w = ep_trace_in(ROOM);

	(void)state;
	NO_TEXTS(&w);
	ep_two_runs(&w);
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	ep_set_record(&w, ON_STACK(0), 0, ON_STACK(1)); /* begins, and has no frame yet */
	ep_put(&w, w.thread + THREAD_RECORD, ON_STACK(0));
	NO_TEXTS(&w);
	ef_destroy(w.f);

	w = ep_trace_in(ROOM);
	struct ep_runs u = ep_two_shimmed_runs(&w);
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	ep_set_frame(&w, ON_STACK(0), 0, 0, u.inner, VP_PYTHON_SHIM);
	ep_put(&w, w.thread + THREAD_FRAME, ON_STACK(0));
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	w.sent->runtime.python.thread_record = THREAD_RECORD; /* 3.12 */
	ep_put(&w, w.thread + THREAD_RECORD, ON_STACK(0));
	ep_set_record(&w, ON_STACK(0), u.inner, 0x1234);
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	ef_destroy(w.f);
}

/* What interprets them was not found on the stack. */
static void frames_of_their_own(void **state)
{
	struct ep w = ep_trace_in(ROOM);
	struct ep_runs u = ep_two_runs(&w);

	(void)state;
	ep_set_record(&w, ON_STACK(9), u.outer, 0);
	ep_set_record(&w, ON_STACK(1), u.inner, ON_STACK(9));
	TEXTS_ARE(&w, "", INNER, "", "", "", "a.py:30 (main)");
	ep_set_record(&w, ON_STACK(9), u.inner, 0);
	ep_put(&w, w.thread + THREAD_RECORD, ON_STACK(9));
	TEXTS_ARE(&w, "", "", "", "", "", "a.py:10 (leaf)", "a.py:20 (call)");
	/* more than the stack has room for */
	ep_put(&w, u.caller + FRAME_PREVIOUS, u.inner);
	ep_put_bytes(&w, u.caller + FRAME_MARK, (uint8_t[]){ 0 }, 1);
	TEXTS_ARE(&w, "", "", "", "", "", "a.py:10 (leaf)", "a.py:20 (call)", "a.py:10 (leaf)");
	ef_destroy(w.f);
}

static void threads(void **state)
{
	struct ep w = ep_trace_in(ROOM);

	(void)state;
	ep_two_runs(&w);
	uint64_t other = ep_object(&w, 32), interpreter = ep_object(&w, 16);

	ep_put(&w, other + NEXT, w.thread);
	ep_put(&w, other + THREAD_ID, POINTER + 0x1000);
	ep_put(&w, w.interpreter + INTERPRETER_THREADS, other);
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	ep_put(&w, other + NEXT, 0);
	NO_TEXTS(&w);
	ep_put(&w, w.interpreter + NEXT, interpreter);
	ep_put(&w, interpreter + INTERPRETER_THREADS, w.thread);
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	ep_put(&w, w.thread + THREAD_ID, 0);
	NO_TEXTS(&w);
	ep_put(&w, w.thread + THREAD_ID, POINTER);
	w.f->es->facts.task_thread_pointer = VP_NO_OFFSET;
	NO_TEXTS(&w);
	ef_destroy(w.f);
}

static void name_is(struct ep *w, uint64_t at, uint64_t name, const char *want)
{
	ep_put(w, at + CODE_NAME, name);
	TEXTS_ARE(w, "", want);
}

static void strings(void **state)
{
	static const uint8_t latin[] = { 'n', 0xe4, 'h', '\n', 0x7f, 0 };
	static const uint16_t two[] = { 0x444, 'x', 0xd800, 0x20ac };
	static const uint32_t four[] = { 0x1d11e, 'y', 0x110000, 0xffffffff };
	struct ep w = ep_trace_in(ROOM);
	uint64_t at;

	(void)state;
	ep_one_frame(&w, &at);
	name_is(&w, at, ep_string(&w, ""), "@a.py:10 ()");
	name_is(&w, at, ep_string_of(&w, latin, 6, 1, COMPACT), "@a.py:10 (n\xc3\xa4h\?\?\?)");
	name_is(&w, at, ep_string_of(&w, two, 4, 2, COMPACT), "@a.py:10 (\xd1\x84x?\xe2\x82\xac)");
	name_is(&w, at, ep_string_of(&w, four, 4, 4, COMPACT), "@a.py:10 (\xf0\x9d\x84\x9ey\?\?)");
	char long_name[101];
	memset(long_name, 'q', 100);
	long_name[100] = '\0';
	char want[128];
	snprintf(want, sizeof(want), "@a.py:10 (%s)", long_name);
	name_is(&w, at, ep_string(&w, long_name), want);
	/* no strings */
	name_is(&w, at, 0, "@a.py:10 (?)");
	name_is(&w, at, 0x1234, "@a.py:10 (?)");
	name_is(&w, at, ~7ull, "@a.py:10 (?)");
	name_is(&w, at, ep_string_of(&w, "abc", 3, 1, ASCII), "@a.py:10 (?)");
	name_is(&w, at, ep_string_of(&w, "abc", 1, 3, COMPACT), "@a.py:10 (?)");
	name_is(&w, at, ep_string_of(&w, "", 0, 0, COMPACT), "@a.py:10 (?)");
	ep_put(&w, at + CODE_FILENAME, 0);
	name_is(&w, at, ep_string(&w, "f"), "@?:10 (f)");
	ef_destroy(w.f);
}

/* A table of every form: the instructions that each entry is for, and their line. */
static void lines(void **state)
{
	static const uint8_t table[] = {
		0x80 | 0 << 3 | 0,  0x11,                      /* 0: the line of the entry before, 100 */
		0x80 | 9 << 3 | 1,  0x11,                      /* 1, 2 */
		0x80 | 12 << 3 | 0, 1,    2,                   /* 3: two more, 102 */
		0x80 | 13 << 3 | 2, 0x05,                      /* 4 to 6: two less, 100 */
		0x80 | 14 << 3 | 0, 0x48, 0x0f, 0,    1,    2, /* 7: 0x3c8 / 2 = 484 more, 584 */
		0x80 | 15 << 3 | 7,                            /* 8 to 15: none */
		0x80 | 11 << 3 | 0, 0,    0,                   /* 16: 585 */
		0x80 | 13 << 3 | 0, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, 0x7f, /* 17: nonsense */
	};
	static const char *const want[] = { "100", "100", "100", "102", "100", "100", "100", "584", "?",
					    "?",   "?",   "?",   "?",   "?",   "?",   "?",   "585" };
	struct ep w = ep_trace_in(ROOM);
	uint64_t at, f = ep_one_frame(&w, &at);
	char text[64];

	(void)state;
	ep_put(&w, at + CODE_FIRST_LINE, 100);
	ep_put(&w, at + CODE_LINES, ep_bytes(&w, table, sizeof(table)));
	for (uint64_t i = 0; i < OT_ARRAY_SIZE(want); i++) {
		ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS + 2 * i);
		snprintf(text, sizeof(text), "@a.py:%s (leaf)", want[i]);
		TEXTS_ARE(&w, "", text);
	}
	ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS + 36); /* behind the last one */
	TEXTS_ARE(&w, "", "@a.py:? (leaf)");
	ep_put(&w, f + FRAME_INSTRUCTION, ~0ull);
	TEXTS_ARE(&w, "", "@a.py:? (leaf)");
	ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS - 2); /* the function has just begun */
	TEXTS_ARE(&w, "", "@a.py:100 (leaf)");
	ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS);
	ep_put(&w, at + CODE_LINES, 0x1234);
	TEXTS_ARE(&w, "", "@a.py:? (leaf)");
	ef_destroy(w.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs),    cmocka_unit_test(frames_of_their_own),
		cmocka_unit_test(threads), cmocka_unit_test(strings),
		cmocka_unit_test(lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
