/* SPDX-License-Identifier: GPL-2.0-or-later */
/* jstack(): the frames of Erlang's processes, of a made-up machine, whole, wrong and hostile. */
#include <stdio.h>
#include <string.h>

#include "tests/unit/engine_beam.h"

#define HAVE_FRAMES(w) TEXTS_ARE(w, "", "", EB_TEXTS)

static struct ep make(struct eb *b)
{
	struct ep w = ep_trace_in(ROOM);

	*b = eb_make(&w);
	return w;
}

static struct vp_beam *description(struct ep *w)
{
	return &w->sent->runtime.beam;
}

/* Of one frame, whatever the text's length. */
static void texts(struct ep *w, const char *text)
{
	char want[ROOM];

	assert_true(snprintf(want, sizeof(want), "@%s", text) < (int)sizeof(want));
	TEXTS_ARE(w, "", "", want);
}

/* --- the stack ----------------------------------------------------------------------------------------- */

static void frames(void **state)
{
	struct eb b;
	struct ep w = make(&b);

	(void)state;
	HAVE_FRAMES(&w);
	ep_put(&w, b.stack, EB_IN_LEAF(&b) + 8); /* one more, at another place of the same function */
	TEXTS_ARE(&w, "", "", "@" EB_LEAF_TEXT "\n" EB_LEAF_TEXT "\n" EB_MAIN_TEXT);
	ep_put(&w, b.stack, EB_IN_LEAF(&b)); /* where the instruction is: the same frame */
	HAVE_FRAMES(&w);
	ep_put(&w, b.in_reg - 8, 0x1000); /* the instruction is in no module: a native function's */
	ep_put(&w, b.stack, EB_NIL);
	texts(&w, EB_MAIN_TEXT);
	ep_put(&w, b.in_reg, b.heap + 8ull * EB_WORDS); /* the stack is empty */
	ep_put(&w, b.in_reg - 8, EB_IN_LEAF(&b));
	texts(&w, EB_LEAF_TEXT);
	ef_destroy(w.f);
}

/* Where the interpreter's registers are while it is in a function that it has called. */
static void registers(void **state)
{
	struct eb b;
	struct ep w = make(&b);

	(void)state;
	eb_save(&w, &b, false); /* still in the processor's */
	HAVE_FRAMES(&w);
	description(&w)->emulator_start = FUNCTION(0); /* it is the innermost function itself */
	description(&w)->emulator_end = FUNCTION(1);
	TEXTS_ARE(&w, EB_TEXTS);
	description(&w)->registers[VP_BEAM_STACK] = VP_NREGS_GENERAL;
	NO_TEXTS(&w);
	description(&w)->registers[VP_BEAM_STACK] = EB_STACK_REG;
	description(&w)->registers[VP_BEAM_INSTRUCTION] = UINT32_MAX; /* the innermost frame is missing */
	TEXTS_ARE(&w, "@" EB_MAIN_TEXT);
	ef_destroy(w.f);
}

static void put_kernel(struct ep *w, uint64_t va, uint64_t value)
{
	vp_fake_write(w->f->fake, w->f->kernel_root, va, &value, sizeof(value));
}

/* In a system call the kernel has saved them. */
static void in_the_kernel(void **state)
{
	const uint64_t regs = EF_STACKS + EF_STACK_SIZE - EF_PTREGS_WORDS * 8;
	struct eb b;
	struct ep w = make(&b);
	uint32_t *offsets = w.f->es->facts.ptregs_general;

	(void)state;
	eb_save(&w, &b, false);
	vp_fake_set_reg(w.f->fake, 0, VP_CS, 0x10);
	vp_fake_set_reg(w.f->fake, 0, VP_RSP, EF_STACKS + 0x100);
	vp_fake_set_reg(w.f->fake, 0, EB_STACK_REG, 0x5555);
	vp_fake_set_reg(w.f->fake, 0, EB_INSTRUCTION_REG, 0x5555);
	put_kernel(&w, regs + EF_PTREGS_IP * 8, FUNCTION(0));
	put_kernel(&w, regs + EF_PTREGS_CS * 8, 0x33);
	put_kernel(&w, regs + EF_PTREGS_SP * 8, STACK);
	put_kernel(&w, regs + 16, b.stack);
	put_kernel(&w, regs + 40, EB_IN_LEAF(&b));
	offsets[EB_STACK_REG] = 16;
	offsets[EB_INSTRUCTION_REG] = 40;
	HAVE_FRAMES(&w);
	offsets[EB_INSTRUCTION_REG] = VP_NO_OFFSET;
	texts(&w, EB_MAIN_TEXT);
	offsets[EB_STACK_REG] = 0x7fffffff;
	NO_TEXTS(&w);
	ef_destroy(w.f);
}

/* A function of which no rule says what it has saved may have changed them; one outside of it can mend that.
 */
static void unknown_registers(void **state)
{
	struct eb b;
	struct ep w = make(&b);
	struct vp_beam before = *description(&w);

	(void)state;
	eb_save(&w, &b, false);
	w.sent->rows[EP_ROWS] = vp_frame_row(0, VP_FRAME_NONE, 0, 0); /* the innermost */
	NO_TEXTS(&w);
	w.sent->rows[EP_ROWS] = vp_frame_row(0, VP_FRAME_STOP, 0, 0);
	NO_TEXTS(&w);
	eb_save(&w, &b, true); /* its caller has saved it */
	HAVE_FRAMES(&w);
	w.sent->rows[EP_ROWS + 1] = vp_frame_row(0x10, VP_FRAME_SIGNAL, 0, 0);
	NO_TEXTS(&w);
	eb_save(&w, &b, true);
	description(&w)->saved[VP_BEAM_STACK].end = FUNCTION(1); /* another file's */
	NO_TEXTS(&w);
	description(&w)->saved[VP_BEAM_STACK] = before.saved[VP_BEAM_STACK];
	description(&w)->saved[VP_BEAM_STACK].sent = 1; /* was not sent */
	NO_TEXTS(&w);
	description(&w)->saved[VP_BEAM_STACK] = before.saved[VP_BEAM_STACK];
	description(&w)->saved[VP_BEAM_STACK].nrows = UINT32_MAX;
	NO_TEXTS(&w);
	description(&w)->saved[VP_BEAM_STACK] = before.saved[VP_BEAM_STACK];
	HAVE_FRAMES(&w);
	description(&w)->emulator_start = description(&w)->emulator_end; /* it is not on the stack */
	NO_TEXTS(&w);
	ef_destroy(w.f);
}

/* A collection of garbage has moved it meanwhile, and dirty schedulers' is always what the process has. */
static void stored(void **state)
{
	struct eb b;
	struct ep w = make(&b);

	(void)state;
	ep_put(&w, b.process + EB_PROCESS_STACK, b.stack + 8);
	ep_put(&w, b.in_reg, b.heap - 8);
	HAVE_FRAMES(&w);
	ep_put(&w, b.in_reg, b.heap + 8ull * (EB_WORDS + 1));
	HAVE_FRAMES(&w);
	ep_put(&w, b.process + EB_PROCESS_STACK, b.stack + 4);
	NO_TEXTS(&w);
	ep_put(&w, b.process + EB_PROCESS_STACK, b.heap + 8ull * (EB_WORDS + 1));
	NO_TEXTS(&w);
	description(&w)->dirty_start = description(&w)->emulator_start;
	description(&w)->dirty_end = description(&w)->emulator_end;
	ep_put(&w, b.process + EB_PROCESS_STACK, b.stack);
	ep_put(&w, b.process + EB_PROCESS_INSTRUCTION, EB_IN_LEAF(&b));
	HAVE_FRAMES(&w);
	ef_destroy(w.f);
}

static void schedulers(void **state)
{
	struct eb b;
	struct ep w = make(&b);
	struct vp_beam_schedulers normal = description(&w)->schedulers[0];

	(void)state;
	description(&w)->schedulers[0] = description(&w)->schedulers[2];
	NO_TEXTS(&w);
	description(&w)->schedulers[2] = normal;
	HAVE_FRAMES(&w);
	ep_put(&w, normal.count, 1); /* the second is none any more */
	NO_TEXTS(&w);
	ep_put(&w, normal.count, ~0ull); /* as many as memory */
	HAVE_FRAMES(&w);
	assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, 0);
	ep_put(&w, b.scheduler + EB_SCHEDULER_THREAD, POINTER + 1);
	NO_TEXTS(&w);
	assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, 0);
	ep_put(&w, b.scheduler + EB_SCHEDULER_THREAD, POINTER);
	ep_put(&w, b.scheduler + EB_SCHEDULER_PROCESS, 0); /* waits for work */
	NO_TEXTS(&w);
	ep_put(&w, b.scheduler + EB_SCHEDULER_PROCESS, 0x1234);
	NO_TEXTS(&w);
	ep_put(&w, b.scheduler + EB_SCHEDULER_PROCESS, b.process);
	w.f->es->facts.task_thread_pointer = VP_NO_OFFSET;
	NO_TEXTS(&w);
	ef_destroy(w.f);
}

/* --- names and places ---------------------------------------------------------------------------------- */

static void name_is(struct ep *w, const struct eb *b, const void *bytes, uint16_t length, const char *want)
{
	char text[ROOM];

	eb_name(w, b, EB_LEAF, bytes, length);
	snprintf(text, sizeof(text), "m:%s/0 (a.erl:12)", want);
	texts(w, text);
}

static void names(void **state)
{
	struct eb b;
	struct ep w = make(&b);

	(void)state;
	ep_put(&w, b.in_reg, b.heap + 8ull * EB_WORDS);
	name_is(&w, &b, "", 0, "");
	name_is(&w, &b, "'+\"", 3, "'+\"");
	name_is(&w, &b, "n\xc3\xa4h\xe2\x82\xac\xf0\x9d\x84\x9e", 11,
		"n\xc3\xa4h\xe2\x82\xac\xf0\x9d\x84\x9e");
	name_is(&w, &b, "a\nb\x7f", 5, "a?b\?\?");          /* with the NUL */
	name_is(&w, &b, "\xc0\x80\xe2\x82", 4, "\?\?\?\?"); /* too long; cut */
	name_is(&w, &b, "\xed\xa0\x80\xff", 4, "\?\?");     /* half of a pair; begins nothing */
	ep_put(&w, b.atoms + 8 * EB_LEAF, 0x1234);
	texts(&w, "m:?/0 (a.erl:12)");
	ep_put(&w, b.atoms + 8 * EB_LEAF, 0);
	texts(&w, "m:?/0 (a.erl:12)");
	ep_put(&w, b.leaf + EB_FUNCTION_NAME + 8, ~0ull);
	texts(&w, "m:?/0 (a.erl:12)");
	ep_put(&w, b.leaf + EB_FUNCTION_NAME + 16, 256);
	texts(&w, "m:?/? (a.erl:12)");
	ep_put(&w, b.leaf + EB_FUNCTION_NAME + 16, 255);
	texts(&w, "m:?/255 (a.erl:12)");
	ef_destroy(w.f);
}

/* A name that is longer than is shown. */
static void long_name(void **state)
{
	struct ep w = ep_trace_in(512);
	struct eb b = eb_make(&w);
	char name[300], want[320];

	(void)state;
	memset(name, 'q', sizeof(name));
	eb_name(&w, &b, EB_LEAF, name, sizeof(name));
	ep_put(&w, b.in_reg, b.heap + 8ull * EB_WORDS);
	snprintf(want, sizeof(want), "@m:%.255s?/0 (a.erl:12)", name);
	ep_texts_are(&w, 512, (const char *const[]){ "", "", want, NULL });
	ef_destroy(w.f);
}

static void places(void **state)
{
	static const uint16_t narrow[] = { 11, 13, 21, 22 };
	struct eb b;
	struct ep w = make(&b);
	uint32_t width = 2;

	(void)state;
	ep_put(&w, b.in_reg, b.heap + 8ull * EB_WORDS);
	ep_put(&w, b.in_reg - 8, b.leaf + 0x20);
	texts(&w, "m:leaf/0 (a.erl:11)");
	ep_put(&w, b.in_reg - 8, b.leaf + 0x18); /* before its first place */
	texts(&w, "m:leaf/0");
	ep_put(&w, b.in_reg - 8, EB_IN_LEAF(&b));
	ep_put_bytes(&w, b.places, narrow, sizeof(narrow));
	ep_put_bytes(&w, b.lines + EB_LINES_WIDTH, &width, 4);
	texts(&w, "m:leaf/0 (a.erl:13)");
	ep_put_bytes(&w, b.places + 2, (uint8_t[2]){ 0 }, 2); /* it has none */
	texts(&w, "m:leaf/0");
	width = 3;
	ep_put_bytes(&w, b.lines + EB_LINES_WIDTH, &width, 4);
	texts(&w, "m:leaf/0");
	ep_put(&w, b.module + EB_CODE_LINES, 0); /* compiled without lines */
	texts(&w, "m:leaf/0");
	ep_put(&w, b.module + EB_CODE_LINES, 0x1234);
	texts(&w, "m:leaf/0");
	ef_destroy(w.f);
}

/* What is no list of characters, and one that does not end. */
static void files(void **state)
{
	struct ep w = ep_trace_in(512);
	struct eb b = eb_make(&w);
	uint64_t cell = b.cells & ~3ull;
	char want[512], file[256];

	(void)state;
	ep_put(&w, b.in_reg, b.heap + 8ull * EB_WORDS);
	ep_put(&w, cell, EB_ATOM(1)); /* no character; the next one ends a line */
	ep_put(&w, cell + 16, EB_SMALL('\n'));
	ep_put(&w, cell + 24, 0x1235);
	ep_texts_are(&w, 512, (const char *const[]){ "", "", "@m:leaf/0 (?\?\?:12)", NULL });
	ep_put(&w, cell, EB_SMALL('x'));
	ep_put(&w, cell + 8, b.cells);
	memset(file, 'x', 255);
	file[255] = '\0';
	snprintf(want, sizeof(want), "@m:leaf/0 (%s?:12)", file);
	ep_texts_are(&w, 512, (const char *const[]){ "", "", want, NULL });
	ep_put(&w, b.lines + EB_LINES_FILES, 0x1234);
	ep_texts_are(&w, 512, (const char *const[]){ "", "", "@m:leaf/0 (?:12)", NULL });
	ef_destroy(w.f);
}

/* --- hostile ------------------------------------------------------------------------------------------- */

/* What leads nowhere: no frames, or fewer. */
static void broken_modules(void **state)
{
	struct eb b;
	struct ep w = make(&b);
	const struct {
		uint64_t at, value;
		const char *text; /* NULL: none */
	} rows[] = {
		{ description(&w)->current, 3, NULL },
		{ description(&w)->current, UINT32_MAX, NULL },
		{ b.tables + VP_BEAM_TABLE_SIZE, 0x1230, NULL },
		{ b.tables + VP_BEAM_TABLE_SIZE + 8, 0, NULL },
		{ b.tables + VP_BEAM_TABLE_SIZE + 8, VP_BEAM_MODULES_MAX + 1, NULL },
		{ b.module, 0, NULL },
		{ b.module, 1, EB_LEAF_TEXT }, /* main is none of its functions */
		{ b.module, ~0ull, NULL },
		{ b.module + EB_CODE_FUNCTIONS, ~0ull, EB_MAIN_TEXT },
		{ b.lines + EB_LINES_FUNCTIONS + 8, 0,
		  "m:leaf/0\nm:main/2" }, /* a range that is upside down */
	};

	(void)state;
	ef_destroy(w.f);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		struct ep v = make(&b);

		ep_put(&v, rows[i].at, rows[i].value);
		if (rows[i].text)
			texts(&v, rows[i].text);
		else
			NO_TEXTS(&v);
		ef_destroy(v.f);
	}
}

static void hit(struct ep *w)
{
	struct ef_record r[2];

	assert_true(vp_fake_hit(w->f->fake, 0, FUNCTION(0)));
	ef_switch(w->f);
	assert_int_equal(ef_records(w->f, 0, r, 2), 1);
}

/* Whatever the message's numbers are, a hit ends, and the session goes on. */
static void hostile_messages(void **state)
{
	static const uint64_t values[] = {
		0, 1, 7, 63, 0x7fffffff, 0xfffffff0, 0x8000000000000000ull, ~0ull
	};
	struct eb b;
	struct ep w = make(&b);
	struct vp_beam before = *description(&w);
	uint8_t *bytes = (uint8_t *)description(&w);

	(void)state;
	for (size_t at = 0; at + 8 <= sizeof(before); at += 4)
		for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++) {
			memcpy(bytes + at, &values[i], at % 8 ? 4 : 8);
			hit(&w);
			*description(&w) = before;
		}
	HAVE_FRAMES(&w);
	ef_destroy(w.f);
}

/* Schedulers that are all the same one, a table of modules that is as large as memory and a stack without an
 * end: the loads that a walk has end it, which is counted. */
static void no_end(void **state)
{
	struct eb b;
	struct ep w = make(&b);

	(void)state;
	description(&w)->scheduler_size = 0;
	ep_put(&w, description(&w)->schedulers[0].count, ~0ull);
	NO_TEXTS(&w); /* the first is another thread's */
	ef_destroy(w.f);

	w = make(&b);
	ep_put(&w, b.tables + VP_BEAM_TABLE_SIZE + 8, VP_BEAM_MODULES_MAX);
	NO_TEXTS(&w); /* the search goes where nothing is */
	ef_destroy(w.f);

	w = make(&b);
	for (unsigned i = 0; i < EB_WORDS; i++)
		ep_put(&w, b.heap + 8 * i, i % 2 ? EB_IN_MAIN(&b) : EB_IN_MAIN(&b) - 8);
	ep_put(&w, b.process + EB_PROCESS_HEAP, STACK);
	ep_put(&w, b.process + EB_PROCESS_HEAP_END, EF_USER + 0x2000);
	ep_put(&w, b.in_reg, b.heap);
	hit(&w);
	assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, 1);
	ef_destroy(w.f);
}

/* Frames are whole or not there; that some have no room is counted. */
static void no_room(void **state)
{
	static const struct {
		uint32_t room;
		const char *text;
		bool lost;
	} rows[] = {
		{ 8, NULL, true },
		{ 16, NULL, true },
		{ 24, "@" EB_LEAF_TEXT, true },
		{ 40, "@" EB_LEAF_TEXT, true },
		{ 48, EB_TEXTS, false },
	};

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(rows); i++) {
		struct ep w = ep_trace_in(rows[i].room);

		eb_make(&w);
		if (rows[i].text)
			ep_texts_are(&w, rows[i].room, (const char *const[]){ "", "", rows[i].text, NULL });
		else
			ep_texts_are(&w, rows[i].room, (const char *const[]){ NULL });
		assert_int_equal(w.f->es->vcpus[0].counts.stkstr_overflows, rows[i].lost);
		ef_destroy(w.f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),
		cmocka_unit_test(registers),
		cmocka_unit_test(stored),
		cmocka_unit_test(unknown_registers),
		cmocka_unit_test(schedulers),
		cmocka_unit_test(names),
		cmocka_unit_test(long_name),
		cmocka_unit_test(places),
		cmocka_unit_test(files),
		cmocka_unit_test(broken_modules),
		cmocka_unit_test(no_end),
		cmocka_unit_test(no_room),
		cmocka_unit_test(hostile_messages),
		cmocka_unit_test(in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
