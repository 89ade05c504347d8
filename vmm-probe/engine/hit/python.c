/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walking CPython's frames: interpreters, threads, runs, frames; and the name of a frame. */
#include "vmm-probe/engine/hit/python.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

/* Loads of a walk, some 30 ns each. A frame takes 20, the line table of a long function one in 128 bytes, and
 * a frame's text is rarely shorter than 10 bytes: a larger size is a larger budget. */
#define LOADS_LEAST    1024u
#define LOADS_PER_BYTE 2u
#define LOADS_MAX      65536u
#define CHUNK          64u /* bytes of a string */

/* The bits of a string's state (PyASCIIObject.state). */
#define STATE_KIND(state)  ((state) >> 2 & 7) /* bytes of a character */
#define STATE_COMPACT      (1u << 5)          /* the characters follow the object's head */
#define STATE_ASCII        (1u << 6)
#define BYTES_OF_CODE_UNIT 2u

bool vp_python_load(struct vp_python_walk *w, uint64_t gva, void *dst, size_t len)
{
	if (!w->fuel)
		return false;
	w->fuel--;
	return vp_load_user(w->v, gva, dst, len);
}

/* 0: it can't be read. */
static uint64_t word(struct vp_python_walk *w, uint64_t at, uint32_t offset)
{
	uint64_t value;

	return at && vp_python_load(w, at + offset, &value, sizeof(value)) ? value : 0;
}

/* --- the thread -------------------------------------------------------------------------------------- */

static uint64_t find_thread(struct vp_python_walk *w, uint64_t pointer)
{
	const struct vp_python *in = &w->in;

	for (uint64_t i = word(w, in->interpreters, 0); i; i = word(w, i, in->interpreter_next))
		for (uint64_t t = word(w, i, in->interpreter_threads); t; t = word(w, t, in->thread_next))
			if (word(w, t, in->thread_id) == pointer)
				return t;
	return 0;
}

static uint32_t loads_for(size_t room)
{
	return room < (LOADS_MAX - LOADS_LEAST) / LOADS_PER_BYTE
		   ? LOADS_LEAST + LOADS_PER_BYTE * (uint32_t)room
		   : LOADS_MAX;
}

bool vp_python_begin(struct vp_python_walk *w, struct vp_vcpu_session *v, const struct vp_python *in,
		     size_t room)
{
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t pointer = vp_task_field(v, vp_task(v), v->es->facts.task_thread_pointer, 8, &fault), thread;

	*w = (struct vp_python_walk){ .v = v, .in = *in, .fuel = loads_for(room) };
	thread = pointer ? find_thread(w, pointer) : 0;
	if (!thread)
		return false;
	if (w->in.thread_record == VP_NO_OFFSET) {
		w->frame = word(w, thread, w->in.thread_frame);
	} else {
		w->record = word(w, thread, w->in.thread_record);
		w->frame = word(w, w->record, w->in.record_frame);
	}
	return w->frame != 0;
}

/* --- runs -------------------------------------------------------------------------------------------- */

static bool mark(struct vp_python_walk *w, uint64_t frame, uint8_t *ret)
{
	return vp_python_load(w, frame + w->in.frame_mark, ret, sizeof(*ret));
}

static bool is_shim(struct vp_python_walk *w, uint64_t frame)
{
	uint8_t owner;

	return mark(w, frame, &owner) && owner == VP_PYTHON_SHIM;
}

/* The shim after the frame; 0: there is none, or it is so far away that no budget would be left for texts. */
static uint64_t find_shim(struct vp_python_walk *w)
{
	uint64_t frame = w->frame;
	uint32_t kept = w->fuel / 2;

	w->fuel -= kept;
	while (frame && !is_shim(w, frame))
		frame = word(w, frame, w->in.frame_previous);
	w->fuel += kept;
	return frame;
}

bool vp_python_run(struct vp_python_walk *w, uint64_t *ret_place)
{
	w->run_over = false;
	if (w->in.runs == VP_PYTHON_RECORDS) {
		*ret_place = w->record;
		return w->frame != 0;
	}
	/* The interpreter has just started, and has no frame yet. */
	while (w->frame && is_shim(w, w->frame))
		w->frame = word(w, w->frame, w->in.frame_previous);
	if (!w->frame)
		return false;
	*ret_place = find_shim(w);
	if (!*ret_place)
		*ret_place = UINT64_MAX;
	return true;
}

/* An invalid code object ends the walk. */
static bool read_frame(struct vp_python_walk *w, struct vp_python_frame *ret)
{
	ret->code = word(w, w->frame, w->in.frame_code);
	ret->instruction = word(w, w->frame, w->in.frame_instruction);
	return ret->code && word(w, ret->code, w->in.object_type) == w->in.code_type;
}

static void go_on(struct vp_python_walk *w, bool outermost)
{
	w->run_over = outermost;
	if (outermost && w->in.runs == VP_PYTHON_RECORDS) {
		w->record = word(w, w->record, w->in.record_previous);
		w->frame = word(w, w->record, w->in.record_frame);
	} else {
		w->frame = word(w, w->frame, w->in.frame_previous);
	}
}

bool vp_python_frame(struct vp_python_walk *w, struct vp_python_frame *ret)
{
	bool records = w->in.runs == VP_PYTHON_RECORDS;
	uint8_t byte;

	if (w->run_over || !w->frame)
		return false;
	if (!mark(w, w->frame, &byte)) {
		w->frame = 0;
		return false;
	}
	if (!records && byte == VP_PYTHON_SHIM) {
		go_on(w, true);
		return false;
	}
	if (!read_frame(w, ret)) {
		w->frame = 0;
		return false;
	}
	go_on(w, records && byte);
	return true;
}

/* --- text -------------------------------------------------------------------------------------------- */

static uint32_t character(const uint8_t *bytes, unsigned kind)
{
	uint32_t c = 0;

	memcpy(&c, bytes, kind);
	return c;
}

static bool put_characters(struct vp_python_walk *w, uint64_t at, uint64_t length, unsigned kind,
			   struct vp_texts *texts)
{
	uint8_t chunk[CHUNK];

	while (length && !texts->full) {
		uint64_t n = length < CHUNK / kind ? length : CHUNK / kind;

		if (!vp_python_load(w, at, chunk, n * kind))
			return false;
		for (uint64_t i = 0; i < n; i++)
			vp_texts_character(texts, character(chunk + i * kind, kind));
		at += n * kind;
		length -= n;
	}
	return true;
}

static void put_string(struct vp_python_walk *w, uint64_t object, struct vp_texts *texts)
{
	const struct vp_python *in = &w->in;
	uint64_t length = word(w, object, in->string_length);
	uint32_t state = 0;

	if (object && !vp_python_load(w, object + in->string_state, &state, sizeof(state)))
		state = 0;
	unsigned kind = STATE_KIND(state);
	uint64_t data = object + (state & STATE_ASCII ? in->string_ascii : in->string_wide);

	if (!(state & STATE_COMPACT) || (kind != 1 && kind != 2 && kind != 4) ||
	    !put_characters(w, data, length, kind, texts))
		vp_texts_byte(texts, '?');
}

/* Before its first instruction a function is at its first line. */
static bool line_of(struct vp_python_walk *w, const struct vp_python_frame *f, uint32_t *ret)
{
	uint64_t first = f->code + w->in.code_instructions;

	if (f->instruction < first)
		return vp_python_load(w, f->code + w->in.code_first_line, ret, sizeof(*ret));
	return vp_python_line(w, f->code, (f->instruction - first) / BYTES_OF_CODE_UNIT, ret);
}

void vp_python_text(struct vp_python_walk *w, const struct vp_python_frame *f, struct vp_texts *texts)
{
	uint32_t line;

	put_string(w, word(w, f->code, w->in.code_filename), texts);
	vp_texts_byte(texts, ':');
	if (line_of(w, f, &line))
		vp_texts_number(texts, line);
	else
		vp_texts_byte(texts, '?');
	vp_texts_string(texts, " (");
	put_string(w, word(w, f->code, w->in.code_name), texts);
	vp_texts_byte(texts, ')');
}
