/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jstack() in memory of no interpreter, of one that lies, and without room. */
#include "tests/unit/engine_python.h"

/* A table of more than one piece, and one that says to be longer than all memory. */
static void long_tables(void **state)
{
	struct ep w = ep_trace_in(ROOM);
	uint64_t at, f = ep_one_frame(&w, &at), table = ep_object(&w, 600);
	uint8_t entry[3] = { 0x80 | 11 << 3, 0, 0 };

	(void)state;
	ep_put(&w, at + CODE_LINES, table);
	ep_put(&w, table + BYTES_SIZE, 3 * 150);
	for (unsigned i = 0; i < 150; i++)
		ep_put_bytes(&w, table + BYTES_DATA + 3 * i, entry, 3);
	ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS + 2 * 149);
	TEXTS_ARE(&w, "", "@a.py:160 (leaf)");
	ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS + 2 * 150);
	TEXTS_ARE(&w, "", "@a.py:? (leaf)");
	ep_put(&w, table + BYTES_SIZE, ~0ull);
	TEXTS_ARE(&w, "", "@a.py:? (leaf)");
	ep_put_bytes(&w, table + BYTES_DATA, (uint8_t[]){ 0 }, 1); /* no entry begins there */
	ep_put(&w, f + FRAME_INSTRUCTION, at + CODE_INSTRUCTIONS);
	TEXTS_ARE(&w, "", "@a.py:10 (leaf)");
	ef_destroy(w.f);
}

/* Whatever a hit makes of it, it ends, and the session goes on. */
static void hit(struct ep *w)
{
	struct ef_record r[2];

	assert_true(vp_fake_hit(w->f->fake, 0, FUNCTION(0)));
	ef_switch(w->f);
	assert_int_equal(ef_records(w->f, 0, r, 2), 1);
}

/* What leads nowhere: in the process, and in the message. */
static void hostile_addresses(void **state)
{
	struct ep w = ep_trace_in(ROOM);
	struct ep_runs u = ep_two_runs(&w);
	struct vp_python *in = &w.sent->runtime.python, before = *in;

	(void)state;
	for (uint32_t *offset = &in->thread_record; offset <= &in->bytes_data; offset++) {
		*offset = 0x7fffffff;
		hit(&w);
		*offset = 0xfffffff0;
		hit(&w);
		*in = before;
	}
	in->interpreters = 0xffff800000000000ull;
	NO_TEXTS(&w);
	*in = before;
	w.sent->process.runtime = 1;
	NO_TEXTS(&w);
	w.sent->process.runtime = 0;
	w.sent->runtime.kind = 77;
	NO_TEXTS(&w);
	w.sent->runtime.kind = VP_RUNTIME_PYTHON;
	ep_put(&w, u.caller + FRAME_PREVIOUS, 0x1234); /* is not followed: the run ends there */
	TEXTS_ARE(&w, "", INNER, "", OUTER);
	ep_put(&w, u.inner + FRAME_PREVIOUS, 0x1234);
	TEXTS_ARE(&w, "", "@a.py:10 (leaf)");
	ep_put(&w, u.inner + FRAME_CODE, u.caller); /* is no code */
	NO_TEXTS(&w);
	ep_put(&w, w.thread + THREAD_RECORD, 0x1234);
	NO_TEXTS(&w);
	ef_destroy(w.f);
}

/* Rings of frames, of records, of shims, of threads, of interpreters: as many texts as there is room for. */
static void rings(void **state)
{
	static const char again[] = "@a.py:10 (leaf)\na.py:10 (leaf)\na.py:10 (leaf)\na.py:10 (leaf)";
	struct ep w = ep_trace_in(64);
	uint64_t at, f = ep_one_frame(&w, &at);

	(void)state;
	ep_put(&w, f + FRAME_PREVIOUS, f);
	ep_put_bytes(&w, f + FRAME_MARK, (uint8_t[]){ 0 }, 1);
	ep_texts_are(&w, 64, (const char *const[]){ "", again, NULL });
	ep_put_bytes(&w, f + FRAME_MARK, (uint8_t[]){ 1 }, 1);
	ep_set_record(&w, ON_STACK(1), f, ON_STACK(1));
	ep_texts_are(&w, 64, (const char *const[]){ "", again, NULL });
	w.sent->runtime.python.runs = VP_PYTHON_SHIMS;
	ep_texts_are(&w, 64,
		     (const char *const[]){ "", "", "", "", "", "a.py:10 (leaf)", "a.py:10 (leaf)",
					    "a.py:10 (leaf)", NULL });
	ep_put_bytes(&w, f + FRAME_MARK, (uint8_t[]){ VP_PYTHON_SHIM }, 1);
	ep_texts_are(&w, 64, (const char *const[]){ NULL });
	ep_put(&w, w.thread + THREAD_ID, 1);
	ep_put(&w, w.thread + NEXT, w.thread);
	ep_texts_are(&w, 64, (const char *const[]){ NULL });
	ep_put(&w, w.interpreter + NEXT, w.interpreter);
	ep_put(&w, w.interpreter + INTERPRETER_THREADS, 0);
	ep_texts_are(&w, 64, (const char *const[]){ NULL });
	ef_destroy(w.f);
}

/* Texts are whole or not there; that some have no room is counted. */
static void no_room(void **state)
{
	static const struct {
		uint32_t room;
		const char *texts[5];
		bool lost;
	} rows[] = {
		{ 8, { NULL }, true },
		{ 16, { NULL }, true },
		{ 24, { "", "@a.py:10 (leaf)", NULL }, true },
		{ 32, { "", INNER, NULL }, true },
		{ 40, { "", INNER, NULL }, true },
		{ 56, { "", INNER, "", OUTER, NULL }, false },
	};

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		struct ep w = ep_trace_in(rows[i].room);

		ep_two_runs(&w);
		ep_texts_are(&w, rows[i].room, rows[i].texts);
		assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, rows[i].lost);
		ef_destroy(w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_tables),
		cmocka_unit_test(hostile_addresses),
		cmocka_unit_test(rings),
		cmocka_unit_test(no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
