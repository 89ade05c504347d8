/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making an interpreter's objects, and a session that walks them. */
#include "tests/unit/engine_python.h"

#include <string.h>
#include <sys/mman.h>

/* --- objects ----------------------------------------------------------------------------------------- */

void ep_put_bytes(struct ep *w, uint64_t va, const void *bytes, size_t len)
{
	vp_fake_write(w->f->fake, w->f->user_root, va, bytes, len);
}

void ep_put(struct ep *w, uint64_t va, uint64_t value)
{
	ep_put_bytes(w, va, &value, sizeof(value));
}

uint64_t ep_object(struct ep *w, size_t size)
{
	uint64_t at = w->free;

	w->free += (size + 7) & ~7ull;
	assert_true(w->free <= EF_USER + 0x2000);
	return at;
}

uint64_t ep_string_of(struct ep *w, const void *data, uint64_t length, unsigned kind, uint32_t state)
{
	uint64_t at = ep_object(w, STRING_WIDE + length * kind),
		 data_at = at + (state & ASCII ? STRING_ASCII : STRING_WIDE);
	uint32_t word = state | kind << 2;

	ep_put(w, at + STRING_LENGTH, length);
	ep_put_bytes(w, at + STRING_STATE, &word, sizeof(word));
	ep_put_bytes(w, data_at, data, length * kind);
	return at;
}

uint64_t ep_string(struct ep *w, const char *s)
{
	return ep_string_of(w, s, strlen(s), 1, COMPACT | ASCII);
}

uint64_t ep_bytes(struct ep *w, const void *data, uint64_t size)
{
	uint64_t at = ep_object(w, BYTES_DATA + size);

	ep_put(w, at + BYTES_SIZE, size);
	ep_put_bytes(w, at + BYTES_DATA, data, size);
	return at;
}

/* Two instructions in its first line, eight in the one behind it. */
static const uint8_t usual_lines[] = { 0x80 | 10 << 3 | 1, 0, 0, 0x80 | 11 << 3 | 7, 0, 0 };

uint64_t ep_code(struct ep *w, uint64_t file, uint64_t name, uint32_t line)
{
	uint64_t at = ep_object(w, CODE_INSTRUCTIONS);

	ep_put(w, at + CODE_OF_TYPE, CODE_TYPE);
	ep_put(w, at + CODE_FILENAME, file);
	ep_put(w, at + CODE_NAME, name);
	ep_put(w, at + CODE_FIRST_LINE, line);
	ep_put(w, at + CODE_LINES, ep_bytes(w, usual_lines, sizeof(usual_lines)));
	return at;
}

void ep_set_frame(struct ep *w, uint64_t at, uint64_t in, uint64_t instruction, uint64_t previous,
		  uint8_t mark)
{
	ep_put(w, at + FRAME_CODE, in);
	ep_put(w, at + FRAME_INSTRUCTION, in + CODE_INSTRUCTIONS + 2 * instruction);
	ep_put(w, at + FRAME_PREVIOUS, previous);
	ep_put_bytes(w, at + FRAME_MARK, &mark, 1);
}

static uint64_t frame(struct ep *w, uint64_t in, uint64_t instruction, uint64_t previous, uint8_t mark)
{
	uint64_t at = ep_object(w, FRAME_MARK + 8);

	ep_set_frame(w, at, in, instruction, previous, mark);
	return at;
}

uint64_t ep_simple(struct ep *w, const char *name, uint32_t line, uint64_t previous, uint8_t mark)
{
	return frame(w, ep_code(w, ep_string(w, "a.py"), ep_string(w, name), line), 0, previous, mark);
}

void ep_set_record(struct ep *w, uint64_t at, uint64_t innermost, uint64_t previous)
{
	ep_put(w, at + RECORD_FRAME, innermost);
	ep_put(w, at + RECORD_PREVIOUS, previous);
}

/* --- the session ------------------------------------------------------------------------------------- */

static struct vp_python layout(void)
{
	return (struct vp_python){
		.interpreters = OBJECTS,
		.code_type = CODE_TYPE,
		.runs = VP_PYTHON_RECORDS,
		.thread_record = THREAD_RECORD,
		.thread_frame = VP_NO_OFFSET,
		.record_frame = RECORD_FRAME,
		.record_previous = RECORD_PREVIOUS,
		.interpreter_next = NEXT,
		.interpreter_threads = INTERPRETER_THREADS,
		.thread_next = NEXT,
		.thread_id = THREAD_ID,
		.frame_code = FRAME_CODE,
		.frame_previous = FRAME_PREVIOUS,
		.frame_instruction = FRAME_INSTRUCTION,
		.frame_mark = FRAME_MARK,
		.object_type = CODE_OF_TYPE,
		.code_filename = CODE_FILENAME,
		.code_name = CODE_NAME,
		.code_first_line = CODE_FIRST_LINE,
		.code_lines = CODE_LINES,
		.code_instructions = CODE_INSTRUCTIONS,
		.string_length = STRING_LENGTH,
		.string_state = STRING_STATE,
		.string_ascii = STRING_ASCII,
		.string_wide = STRING_WIDE,
		.bytes_size = BYTES_SIZE,
		.bytes_data = BYTES_DATA,
	};
}

static struct ep_message *send(struct ef *f)
{
	struct ep_message *m =
	    mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(m != MAP_FAILED);
	*m = (struct ep_message){
		.header = { VP_FRAMES_MAGIC, 1, 1, 1, 3 * EP_ROWS, 0 },
		.process = { { .root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90 },
			     0,
			     1,
			     0,
			     0 },
		.runtime = { .kind = VP_RUNTIME_PYTHON, .python = layout() },
		.map = { .start = EF_USER, .end = EF_USER + 0x1000, .base = CODE, .nrows = EP_ROWS },
	};
	for (uint32_t i = 0; i < EP_ROWS; i++)
		m->rows[i] = vp_frame_row(0x10 * i, i == 4 ? VP_FRAME_STOP : VP_FRAME_SP, FRAME_SIZE / 8, 0);
	EF_OK(vp_engine_session_frames(f->es, m, sizeof(*m)));
	return m;
}

/* A thread with the thread pointer that the vCPU's task has; it has no frames yet. */
static void make_thread(struct ep *w)
{
	uint64_t leader = EF_TASKS, pointer = POINTER;
	struct ef *f = w->f;

	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + 0x700, &leader, 8);
	vp_fake_write(f->fake, f->kernel_root, EF_TASKS + 0x708, &pointer, 8);
	for (unsigned i = 0; i < 4; i++)
		ep_put(w, STACK + FRAME_SIZE * (i + 1) - 8, IN(i + 1));
	w->free = OBJECTS;
	uint64_t head = ep_object(w, 8);
	w->interpreter = ep_object(w, 16);
	w->thread = ep_object(w, 32);
	ep_put(w, head, w->interpreter);
	ep_put(w, w->interpreter + INTERPRETER_THREADS, w->thread);
	ep_put(w, w->thread + THREAD_ID, POINTER);
}

struct ep ep_trace_in(uint32_t room)
{
	struct vp_batch_site s = { .gva = FUNCTION(0), .length = 1, .room = 1, .bytes = { 0x90 } };
	struct ep w = { .f = ef_create() };
	struct ef *f = w.f;

	f->facts.task_group_leader = 0x700;
	f->facts.task_thread_pointer = 0x708;
	vp_fake_set_reg(f->fake, 0, VP_CS, 0x33);
	vp_fake_set_reg(f->fake, 0, VP_RSP, STACK);
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_jstack, NULL)->arg = FRAMES | (uint64_t)room << 32;
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "main", "here");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90
	};
	ef_ecb(f, probe, c);
	ef_enable(f);
	ef_start(f);
	make_thread(&w);
	w.sent = send(f);
	return w;
}

void ep_texts_are(struct ep *w, uint32_t room, const char *const *want)
{
	struct ef_record r[2];

	assert_true(vp_fake_hit(w->f->fake, 0, FUNCTION(0)));
	ef_switch(w->f);
	assert_int_equal(ef_records(w->f, 0, r, 2), 1);
	const uint8_t *data = r[0].data + 16;
	const char *at = (const char *)data + 8 * (FRAMES + 1), *end = at + room;
	unsigned n = 0;

	assert_int_equal(ef_u64(data), 90);
	for (; *want; want++, n++) {
		assert_true(at < end && memchr(at, 0, (size_t)(end - at)));
		assert_string_equal(at, *want);
		at += strlen(at) + 1;
	}
	for (; at < end; at++)
		assert_int_equal(*at, 0);
	for (unsigned i = 0; i < FRAMES; i++)
		assert_int_equal(ef_u64(data + 8 * (i + 1)), !i                    ? FUNCTION(0)
							     : i < 5               ? IN(i)
							     : i < (n > 5 ? n : 5) ? DIF_FRAME_WITHOUT_PC
										   : 0);
}

/* --- programs ------------------------------------------------------------------------------------------ */

struct ep_runs ep_two_runs(struct ep *w)
{
	struct ep_runs u;

	u.outer = ep_simple(w, "main", 30, 0, 1);
	u.caller = ep_simple(w, "call", 20, u.outer, 1);
	u.inner = ep_simple(w, "leaf", 10, u.caller, 0);
	ep_set_record(w, ON_STACK(3), u.outer, ep_object(w, 16));
	ep_set_record(w, ON_STACK(1), u.inner, ON_STACK(3));
	ep_put(w, w->thread + THREAD_RECORD, ON_STACK(1));
	return u;
}

struct ep_runs ep_two_shimmed_runs(struct ep *w)
{
	struct ep_runs u;
	struct vp_python *in = &w->sent->runtime.python;

	in->runs = VP_PYTHON_SHIMS;
	in->thread_record = VP_NO_OFFSET;
	in->thread_frame = THREAD_FRAME;
	ep_set_frame(w, ON_STACK(3), 0, 0, 0, VP_PYTHON_SHIM);
	u.outer = ep_simple(w, "main", 30, ON_STACK(3), 0);
	ep_set_frame(w, ON_STACK(1), 0, 0, u.outer, VP_PYTHON_SHIM);
	u.caller = ep_simple(w, "call", 20, ON_STACK(1), 1);
	u.inner = ep_simple(w, "leaf", 10, u.caller, 0);
	ep_put(w, w->thread + THREAD_FRAME, u.inner);
	return u;
}

uint64_t ep_one_frame(struct ep *w, uint64_t *ret_code)
{
	*ret_code = ep_code(w, ep_string(w, "a.py"), ep_string(w, "leaf"), 10);
	uint64_t at = frame(w, *ret_code, 0, 0, 1);

	ep_set_record(w, ON_STACK(1), at, 0);
	ep_put(w, w->thread + THREAD_RECORD, ON_STACK(1));
	return at;
}
