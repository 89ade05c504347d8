/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Walking Erlang's frames: schedulers, the process's stack, and the functions that contain return addresses.
 * The interpreter has the stack's end in a register, which the functions that it calls may save: the unwind
 * rules of their file locate it, as they locate the frame pointer.
 */
#include "vmm-probe/engine/hit/beam.h"
#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/unwind.h"
#include "vmm-probe/engine/hit/user_frames.h"
#include "vmm-probe/engine/hit/walk.h"

/* Loads of a walk, some 30 ns each. A frame takes 50, and its text is rarely shorter than 25 bytes: a larger
 * size is a larger budget. */
#define LOADS_LEAST    1024u
#define LOADS_PER_BYTE 2u
#define LOADS_MAX      65536u
#define WORD           8u
#define TERM_TAG       3u /* a word with one of these bits is not an address */
#define FUNCTIONS_MAX  (1u << 20)

bool vp_beam_load(struct vp_beam_walk *w, uint64_t gva, void *dst, size_t len)
{
	if (!w->fuel)
		return false;
	w->fuel--;
	return vp_load_user(w->v, gva, dst, len);
}

/* 0: it can't be read. */
static uint64_t word(struct vp_beam_walk *w, uint64_t at)
{
	uint64_t value;

	return at && vp_beam_load(w, at, &value, sizeof(value)) ? value : 0;
}

bool vp_beam_search(struct vp_beam_walk *w, uint64_t at, uint64_t n, uint32_t size, uint64_t pc,
		    uint64_t *ret)
{
	uint64_t low = 0, high = n, value;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (!vp_beam_load(w, at + middle * size, &value, sizeof(value)))
			return false;
		if (value <= pc)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low - 1;
	return low;
}

/* --- the process --------------------------------------------------------------------------------------- */

static uint32_t loads_for(size_t room)
{
	return room < (LOADS_MAX - LOADS_LEAST) / LOADS_PER_BYTE
		   ? LOADS_LEAST + LOADS_PER_BYTE * (uint32_t)room
		   : LOADS_MAX;
}

static uint64_t find_process(struct vp_beam_walk *w, uint64_t thread)
{
	const struct vp_beam *in = &w->in;

	for (unsigned kind = 0; kind < VP_BEAM_SCHEDULERS; kind++) {
		uint64_t at = word(w, in->schedulers[kind].first), n = word(w, in->schedulers[kind].count);

		for (; at && n && w->fuel; n--, at += in->scheduler_size)
			if (word(w, at + in->scheduler_thread) == thread)
				return word(w, at + in->scheduler_process);
	}
	return 0;
}

static bool find_modules(struct vp_beam_walk *w)
{
	uint64_t table[2]; /* the pointer, how many */
	uint32_t number;

	if (!vp_beam_load(w, w->in.current, &number, sizeof(number)) || number >= VP_BEAM_TABLES ||
	    !vp_beam_load(w, w->in.modules + (uint64_t)number * VP_BEAM_TABLE_SIZE, table, sizeof(table)))
		return false;
	w->modules = table[0];
	w->nmodules = table[1];
	return w->nmodules <= VP_BEAM_MODULES_MAX;
}

bool vp_beam_begin(struct vp_beam_walk *w, struct vp_vcpu_session *v, const struct vp_beam *in, size_t room)
{
	enum dif_fault fault = DIF_FAULT_NONE;
	uint64_t thread = vp_task_field(v, vp_task(v), v->es->facts.task_thread_pointer, 8, &fault);

	w->v = v;
	w->in = *in;
	w->fuel = loads_for(room);
	w->instruction = w->next = w->end = w->last = 0;
	w->used = w->held = 0;
	w->process = thread ? find_process(w, thread) : 0;
	return w->process && find_modules(w);
}

/* --- its stack ------------------------------------------------------------------------------------------ */

/* The value of a register of the thread, at a frame of its stack. */
struct value {
	uint64_t is;
	bool known;
};

/* In the kernel, the saved registers of the process. */
static struct value innermost(const struct vp_beam_walk *w, enum vp_beam_register r, uint64_t saved)
{
	uint32_t reg = w->in.registers[r];
	struct value value = { 0 };

	if (reg >= VP_NREGS_GENERAL)
		return value;
	if (vp_runs_user(w->v))
		return (struct value){ vp_reg(w->v, (enum vp_reg)reg), true };
	value.known = vp_load_saved_reg(w->v, saved, (enum vp_reg)reg, &value.is);
	return value;
}

/* At the caller of frame @i. */
static struct value leave(struct vp_beam_walk *w, enum vp_beam_register r, const struct vp_user_stack *stack,
			  uint32_t i, struct value before)
{
	struct vp_frame_row row;

	if (!stack->ends[i] || !vp_frames_row_of(w->v, &w->in.saved[r], stack->pcs[i] - (i ? 1 : 0), &row) ||
	    (vp_frame_kind(&row) != VP_FRAME_SP && vp_frame_kind(&row) != VP_FRAME_FP))
		return (struct value){ 0 };
	int64_t from = row.fp & ~VP_FRAME_KIND;
	struct value v = { .known = true };

	if (!from)
		return before;
	v.known = vp_beam_load(w, stack->ends[i] + (uint64_t)from, &v.is, sizeof(v.is));
	return v;
}

static bool is_in(uint64_t pc, uint64_t start, uint64_t end)
{
	return pc >= start && pc < end;
}

/* If the stack is not where the register points, a garbage collection has moved it, and stored its new
 * address. */
static bool set_stack(struct vp_beam_walk *w, uint64_t stack)
{
	uint64_t heap = word(w, w->process + w->in.process_heap);

	w->end = word(w, w->process + w->in.process_heap_end);
	if (stack < heap || stack > w->end)
		stack = word(w, w->process + w->in.process_stack);
	w->next = stack;
	return heap && stack >= heap && stack <= w->end && stack % WORD == 0 && w->end % WORD == 0;
}

/* The process of a dirty scheduler was stored when another scheduler gave it away. */
static bool enter_dirty(struct vp_beam_walk *w)
{
	w->instruction = w->last = word(w, w->process + w->in.process_instruction);
	return set_stack(w, word(w, w->process + w->in.process_stack));
}

bool vp_beam_enter(struct vp_beam_walk *w, const struct vp_user_stack *stack, uint32_t *ret)
{
	struct value sp = innermost(w, VP_BEAM_STACK, stack->regs);
	struct value ip = innermost(w, VP_BEAM_INSTRUCTION, stack->regs);

	for (uint32_t i = 0; i < stack->n; i++) {
		uint64_t pc = stack->pcs[i] - (i ? 1 : 0);

		*ret = i;
		if (is_in(pc, w->in.dirty_start, w->in.dirty_end))
			return enter_dirty(w);
		if (is_in(pc, w->in.emulator_start, w->in.emulator_end)) {
			w->instruction = w->last = ip.known ? ip.is : 0;
			return sp.known && set_stack(w, sp.is);
		}
		sp = leave(w, VP_BEAM_STACK, stack, i, sp);
		ip = leave(w, VP_BEAM_INSTRUCTION, stack, i, ip);
	}
	return false;
}

/* --- frames --------------------------------------------------------------------------------------------- */

/* The function that @pc is in. */
static bool find_function(struct vp_beam_walk *w, uint64_t pc, struct vp_beam_frame *ret)
{
	uint64_t module[2], n, i; /* from, to */

	if (!vp_beam_search(w, w->modules, w->nmodules, VP_BEAM_MODULE_SIZE, pc, &i) ||
	    !vp_beam_load(w, w->modules + i * VP_BEAM_MODULE_SIZE, module, sizeof(module)) || pc >= module[1])
		return false;
	n = word(w, module[0]);
	ret->pc = pc;
	ret->module = module[0];
	/* After the last one comes its end. */
	if (n > FUNCTIONS_MAX ||
	    !vp_beam_search(w, module[0] + w->in.code_functions, n + 1, WORD, pc, &ret->index) ||
	    ret->index >= n)
		return false;
	ret->function = word(w, module[0] + w->in.code_functions + WORD * ret->index);
	return ret->function;
}

static bool take_word(struct vp_beam_walk *w, uint64_t *ret)
{
	uint64_t left = (w->end - w->next) / WORD;

	if (w->used == w->held) {
		w->used = 0;
		w->held = left < VP_BEAM_CHUNK ? (uint32_t)left : VP_BEAM_CHUNK;
		if (!w->held || !vp_beam_load(w, w->next, w->words, (size_t)w->held * WORD)) {
			w->held = 0;
			return false;
		}
		w->next += (uint64_t)w->held * WORD;
	}
	*ret = w->words[w->used++];
	return true;
}

bool vp_beam_frame(struct vp_beam_walk *w, struct vp_beam_frame *ret)
{
	uint64_t at = w->instruction;

	w->instruction = 0;
	if (at && find_function(w, at, ret))
		return true;
	while (take_word(w, &at)) {
		if (!at || at & TERM_TAG || at == w->last || !find_function(w, at - WORD, ret))
			continue;
		w->last = at;
		return true;
	}
	return false;
}
