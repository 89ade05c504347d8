/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walking HotSpot's frames. The interpreter keeps frame pointers, and has its caller's stack pointer in the
 * frame, because a compiled caller's frame may have been extended for arguments. Compiled code uses the frame
 * pointer as a general register; its piece of code has the size of its frames, and the return address and
 * saved frame pointer are at the frame's end. Stubs use either form.
 */
#include "vmm-probe/engine/hit/hotspot.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

#define FRAME_MAX    (1u << 20) /* bytes */
#define STEPS_MAX    64u        /* from a segment to the start of its piece: up to 254 segments each */
#define SHIFT_MAX    16u
#define BYTECODE_MAX 65536u /* bytes of a method's bytecodes */

static bool load(const struct vp_hotspot_walk *w, uint64_t at, void *dst, size_t len)
{
	return vp_load_user(w->v, at, dst, len);
}

static bool load_u64(const struct vp_hotspot_walk *w, uint64_t at, uint64_t *ret)
{
	return load(w, at, ret, sizeof(*ret));
}

static bool load_u32(const struct vp_hotspot_walk *w, uint64_t at, uint32_t *ret)
{
	return load(w, at, ret, sizeof(*ret));
}

void vp_hotspot_begin(struct vp_hotspot_walk *w, struct vp_vcpu_session *v,
		      const struct vp_process_frames *frames)
{
	w->v = v;
	w->frames = NULL;
	if (!frames || !frames->runtime || frames->runtime->kind != VP_RUNTIME_HOTSPOT)
		return;
	w->in = frames->runtime->hotspot;
	if (w->in.nheaps <= VP_HOTSPOT_HEAPS)
		w->frames = frames;
}

/* --- pieces of code ------------------------------------------------------------------------------------ */

static const struct vp_hotspot_heap *heap_of(const struct vp_hotspot_walk *w, uint64_t pc)
{
	for (uint32_t i = 0; i < w->in.nheaps; i++)
		if (pc >= w->in.heaps[i].start && pc < w->in.heaps[i].end)
			return &w->in.heaps[i];
	return NULL;
}

/* 0: there is no piece. */
static uint64_t find_blob(const struct vp_hotspot_walk *w, const struct vp_hotspot_heap *heap, uint64_t pc)
{
	uint32_t shift = heap->shift <= SHIFT_MAX ? heap->shift : SHIFT_MAX;
	uint64_t segment = (pc - heap->start) >> shift;
	uint8_t back;

	for (unsigned i = 0; i < STEPS_MAX; i++) {
		if (!load(w, heap->segments + segment, &back, sizeof(back)) || back == VP_HOTSPOT_NOTHING)
			return 0;
		if (!back)
			return heap->start + (segment << shift) + w->in.block_head;
		if (back > segment)
			return 0;
		segment -= back;
	}
	return 0;
}

/* A method that was compiled on an assumption that no longer holds: its callee returns to a handler instead,
 * and the frame has the original address. */
static void restore_pc(const struct vp_hotspot_walk *w, struct vp_user_frame *f)
{
	uint64_t handler = 0, other = 0, pc;
	uint32_t at;

	if (f->exact || !load_u64(w, w->blob + w->in.nmethod_deopt, &handler) ||
	    !load_u64(w, w->blob + w->in.nmethod_deopt_mh, &other) || (f->ip != handler && f->ip != other))
		return;
	if (load_u32(w, w->blob + w->in.nmethod_original_pc, &at) && at < FRAME_MAX &&
	    load_u64(w, f->sp + at, &pc) && heap_of(w, pc))
		f->ip = pc;
}

/* --- a frame ------------------------------------------------------------------------------------------- */

/* The frame has the bytecode since the last call; the register always, while the interpreter itself runs. */
static void correct_bytecode(struct vp_hotspot_walk *w)
{
	uint64_t now = vp_reg(w->v, VP_REG_HOTSPOT_BYTECODE);

	if (now - w->bytecode + BYTECODE_MAX < 2ull * BYTECODE_MAX)
		w->bytecode = now;
}

static bool read_interpreted(struct vp_hotspot_walk *w, const struct vp_user_frame *f)
{
	if (f->bp < f->sp || f->bp - f->sp > FRAME_MAX || f->bp % 8 ||
	    !load_u64(w, f->bp + (uint64_t)(int64_t)w->in.frame_caller, &w->caller) ||
	    !load_u64(w, f->bp + (uint64_t)(int64_t)w->in.frame_method, &w->method) ||
	    !load_u64(w, f->bp + (uint64_t)(int64_t)w->in.frame_bytecode, &w->bytecode))
		return false;
	if (w->first && vp_runs_user(w->v))
		correct_bytecode(w);
	return true;
}

bool vp_hotspot_enter(struct vp_hotspot_walk *w, struct vp_user_frame *f, bool first)
{
	uint64_t at = f->exact ? f->ip : f->ip - 1;
	const struct vp_hotspot_heap *heap = w->frames ? heap_of(w, at) : NULL;

	w->frame = VP_HOTSPOT_OTHER;
	w->first = first;
	if (!heap)
		return false;
	w->frame = VP_HOTSPOT_UNREADABLE;
	if (at >= w->in.interpreter_start && at < w->in.interpreter_end) {
		if (read_interpreted(w, f))
			w->frame = VP_HOTSPOT_INTERPRETED;
	} else {
		w->blob = find_blob(w, heap, at);
		if (w->blob) {
			w->frame = VP_HOTSPOT_CODE;
			restore_pc(w, f);
		}
	}
	return true;
}

void vp_hotspot_note(const struct vp_hotspot_walk *w, struct vp_texts *texts)
{
	uint32_t id = 0;

	if (w->frame == VP_HOTSPOT_INTERPRETED) {
		vp_texts_byte(texts, VP_NOTE_HOTSPOT_METHOD);
		vp_texts_note_number(texts, w->method);
		vp_texts_note_number(texts, vp_note_difference(w->method, w->bytecode));
	} else if (w->frame == VP_HOTSPOT_CODE && load_u32(w, w->blob + w->in.nmethod_id, &id)) {
		vp_texts_byte(texts, VP_NOTE_HOTSPOT_CODE);
		vp_texts_note_number(texts, id);
	}
}

/* --- to its caller ------------------------------------------------------------------------------------- */

static bool is_code(const struct vp_hotspot_walk *w, uint64_t pc)
{
	struct vp_frame_row row;

	return heap_of(w, pc - 1) || vp_frames_row(w->v, w->frames, pc - 1, &row);
}

/* Go to the caller whose stack pointer is @sp. If nothing else shows that it is a caller, the return address
 * must point into code. */
static bool return_to(const struct vp_hotspot_walk *w, struct vp_user_frame *f, uint64_t sp, bool saved_fp)
{
	uint64_t pair[2]; /* the caller's frame pointer, the return address */

	if (sp <= f->sp || sp - f->sp > FRAME_MAX || !load(w, sp - sizeof(pair), pair, sizeof(pair)) ||
	    (f->exact && !is_code(w, pair[1])))
		return false;
	*f = (struct vp_user_frame){ .ip = pair[1], .sp = sp, .bp = saved_fp ? pair[0] : f->bp };
	return true;
}

static bool step_fp(const struct vp_hotspot_walk *w, struct vp_user_frame *f)
{
	return f->bp % 8 == 0 && f->bp >= f->sp && return_to(w, f, f->bp + 16, true);
}

/* A method that is being entered has no frame yet, and one that is being left has none any more: the return
 * address is on top of the stack, or after the saved frame pointer. */
static bool step_first(const struct vp_hotspot_walk *w, struct vp_user_frame *f)
{
	return return_to(w, f, f->sp + 8, false) || return_to(w, f, f->sp + 16, true);
}

static bool is_entered(const struct vp_hotspot_walk *w, const struct vp_user_frame *f)
{
	uint64_t code;
	uint32_t complete;

	return load_u64(w, w->blob + w->in.blob_code, &code) &&
	       load_u32(w, w->blob + w->in.blob_frame_complete, &complete) && complete < FRAME_MAX &&
	       f->ip - code < complete;
}

static bool step_code(const struct vp_hotspot_walk *w, struct vp_user_frame *f)
{
	uint32_t words;

	if (!load_u32(w, w->blob + w->in.blob_frame_size, &words) || words > FRAME_MAX / 8)
		return false;
	if (!f->exact)
		return words ? return_to(w, f, f->sp + 8ull * words, true) : step_fp(w, f);
	if (!words)
		return return_to(w, f, f->sp + 8, false) || step_fp(w, f);
	if (is_entered(w, f) && step_first(w, f))
		return true;
	return return_to(w, f, f->sp + 8ull * words, true) || step_first(w, f);
}

static bool step_interpreted(const struct vp_hotspot_walk *w, struct vp_user_frame *f)
{
	uint64_t caller = w->caller;

	if (caller <= f->bp || caller - f->bp > FRAME_MAX || !step_fp(w, f))
		return false;
	/* Arguments pushed for this one are not part of the caller's frame. */
	f->sp = caller > f->sp ? caller : f->sp;
	return true;
}

bool vp_hotspot_step(struct vp_hotspot_walk *w, struct vp_user_frame *f)
{
	switch (w->frame) {
	case VP_HOTSPOT_INTERPRETED:
		return step_interpreted(w, f);
	case VP_HOTSPOT_CODE:
		return step_code(w, f);
	case VP_HOTSPOT_OTHER:
	case VP_HOTSPOT_UNREADABLE:
	default:
		return false;
	}
}
