/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writing an Erlang machine: schedulers, a process and its stack, a module, atoms and lines. */
#include "tests/unit/engine_beam.h"

#include <string.h>

static struct vp_beam layout(void)
{
	return (struct vp_beam){
		.emulator_start = FUNCTION(EB_EMULATOR),
		.emulator_end = FUNCTION(EB_EMULATOR + 1),
		.dirty_start = 0x1000,
		.dirty_end = 0x2000,
		.registers = { EB_STACK_REG, EB_INSTRUCTION_REG },
		.scheduler_size = EB_SCHEDULER_SIZE,
		.scheduler_thread = EB_SCHEDULER_THREAD,
		.scheduler_process = EB_SCHEDULER_PROCESS,
		.process_stack = EB_PROCESS_STACK,
		.process_heap = EB_PROCESS_HEAP,
		.process_heap_end = EB_PROCESS_HEAP_END,
		.process_instruction = EB_PROCESS_INSTRUCTION,
		.code_functions = EB_CODE_FUNCTIONS,
		.code_lines = EB_CODE_LINES,
		.function_name = EB_FUNCTION_NAME,
		.lines_files = EB_LINES_FILES,
		.lines_width = EB_LINES_WIDTH,
		.lines_places = EB_LINES_PLACES,
		.lines_functions = EB_LINES_FUNCTIONS,
		.atom_length = EB_ATOM_LENGTH,
		.atom_name = EB_ATOM_NAME,
	};
}

static void put32(struct ep *w, uint64_t at, uint32_t value)
{
	ep_put_bytes(w, at, &value, sizeof(value));
}

/* An array of @n schedulers of the kind. */
static uint64_t schedulers(struct ep *w, struct vp_beam *in, unsigned kind, unsigned n)
{
	uint64_t variables = ep_object(w, 16), array = ep_object(w, (size_t)n * EB_SCHEDULER_SIZE);

	ep_put(w, variables, array);
	ep_put(w, variables + 8, n);
	in->schedulers[kind] = (struct vp_beam_schedulers){ variables, variables + 8 };
	return array;
}

/* --- names and places ---------------------------------------------------------------------------------- */

void eb_name(struct ep *w, const struct eb *b, unsigned atom, const void *bytes, uint16_t length)
{
	uint64_t at = ep_object(w, 16), name = ep_object(w, length ? length : 1);

	ep_put_bytes(w, at + EB_ATOM_LENGTH, &length, sizeof(length));
	ep_put(w, at + EB_ATOM_NAME, name);
	ep_put_bytes(w, name, bytes, length);
	ep_put(w, b->atoms + 8ull * atom, at);
}

uint64_t eb_list(struct ep *w, const char *text)
{
	size_t n = strlen(text);
	uint64_t cells = ep_object(w, 16 * n);

	for (size_t i = 0; i < n; i++) {
		ep_put(w, cells + 16 * i, EB_SMALL((uint8_t)text[i]));
		ep_put(w, cells + 16 * i + 8, i + 1 < n ? (cells + 16 * (i + 1)) | 1 : EB_NIL);
	}
	return cells | 1;
}

static void make_atoms(struct ep *w, struct vp_beam *in, struct eb *b)
{
	uint64_t variable = ep_object(w, 8), pages = ep_object(w, 8);

	b->atoms = ep_object(w, 64);
	in->atoms = variable;
	ep_put(w, variable, pages);
	ep_put(w, pages, b->atoms);
	eb_name(w, b, EB_MODULE, "m", 1);
	eb_name(w, b, EB_LEAF, "leaf", 4);
	eb_name(w, b, EB_MAIN, "main", 4);
}

/* Two places in the first function, of which the second is meant; two in the other, the first. */
static void make_lines(struct ep *w, struct eb *b)
{
	uint64_t files = ep_object(w, 16), entries = ep_object(w, 40);
	const uint64_t at[] = { b->leaf + 0x20, b->leaf + 0x28, b->main + 0x20, b->main + 0x30,
				b->main + 0x40 };
	const uint32_t places[] = { 11, 12, 1u << 24 | 21, 1u << 24 | 22 };

	b->lines = ep_object(w, EB_LINES_FUNCTIONS + 24);
	b->places = ep_object(w, sizeof(places));
	b->cells = eb_list(w, "a.erl");
	ep_put(w, files, b->cells);
	ep_put(w, files + 8, eb_list(w, "b.erl"));
	ep_put_bytes(w, entries, at, sizeof(at));
	ep_put_bytes(w, b->places, places, sizeof(places));
	put32(w, b->lines + EB_LINES_WIDTH, 4);
	ep_put(w, b->lines + EB_LINES_FILES, files);
	ep_put(w, b->lines + EB_LINES_PLACES, b->places);
	for (unsigned i = 0; i < 3; i++) /* where each function's begin */
		ep_put(w, b->lines + EB_LINES_FUNCTIONS + 8 * i, entries + 16 * i);
	ep_put(w, b->module + EB_CODE_LINES, b->lines);
}

static void put_function(struct ep *w, uint64_t at, unsigned name, uint64_t arity)
{
	ep_put(w, at + EB_FUNCTION_NAME, EB_ATOM(EB_MODULE));
	ep_put(w, at + EB_FUNCTION_NAME + 8, EB_ATOM(name));
	ep_put(w, at + EB_FUNCTION_NAME + 16, arity);
}

/* The table in use is the second; of its modules, one was unloaded. */
static void make_module(struct ep *w, struct vp_beam *in, struct eb *b)
{
	uint64_t current = ep_object(w, 8), array = ep_object(w, 2 * VP_BEAM_MODULE_SIZE);

	b->tables = ep_object(w, (size_t)VP_BEAM_TABLES * VP_BEAM_TABLE_SIZE);
	b->module = ep_object(w, EB_CODE_FUNCTIONS + 24);
	b->leaf = ep_object(w, 0x30);
	b->main = ep_object(w, 0x40);
	in->modules = b->tables;
	in->current = current;
	put32(w, current, 1);
	ep_put(w, b->tables + VP_BEAM_TABLE_SIZE, array);
	ep_put(w, b->tables + VP_BEAM_TABLE_SIZE + 8, 2);
	ep_put(w, array, b->module - 16);
	ep_put(w, array + 8, b->module - 16);
	ep_put(w, array + 16, b->module);
	ep_put(w, array + 24, b->main + 0x40);
	ep_put(w, b->module, 2);
	ep_put(w, b->module + EB_CODE_FUNCTIONS, b->leaf);
	ep_put(w, b->module + EB_CODE_FUNCTIONS + 8, b->main);
	ep_put(w, b->module + EB_CODE_FUNCTIONS + 16, b->main + 0x40);
	put_function(w, b->leaf, EB_LEAF, 0);
	put_function(w, b->main, EB_MAIN, 2);
}

/* --- the process --------------------------------------------------------------------------------------- */

void eb_save(struct ep *w, const struct eb *b, bool saved)
{
	for (uint32_t i = 0; i < 2; i++)
		w->sent->rows[EP_ROWS * (i + 1) + 1] =
		    vp_frame_row(0x10, VP_FRAME_SP, FRAME_SIZE / 8, saved ? (int16_t)(-16 - 8 * (int)i) : 0);
	ep_put(w, b->in_reg, b->stack);
	ep_put(w, b->in_reg - 8, EB_IN_LEAF(b));
	vp_fake_set_reg(w->f->fake, 0, EB_STACK_REG, saved ? 0x5555 : b->stack);
	vp_fake_set_reg(w->f->fake, 0, EB_INSTRUCTION_REG, saved ? 0x5555 : EB_IN_LEAF(b));
}

static void make_process(struct ep *w, struct eb *b)
{
	b->process = ep_object(w, 32);
	b->heap = ep_object(w, 8 * EB_WORDS);
	b->stack = b->heap + 8 * (EB_WORDS / 2);
	b->in_reg = STACK + 2 * FRAME_SIZE - 16;
	ep_put(w, b->process + EB_PROCESS_HEAP, b->heap);
	ep_put(w, b->process + EB_PROCESS_HEAP_END, b->heap + 8 * EB_WORDS);
	ep_put(w, b->scheduler + EB_SCHEDULER_THREAD, POINTER);
	ep_put(w, b->scheduler + EB_SCHEDULER_PROCESS, b->process);
	for (unsigned i = 0; i < EB_WORDS; i++) /* terms: no addresses */
		ep_put(w, b->heap + 8 * i, (b->module + 8 * i) | 1);
	ep_put(w, b->stack + 8, EB_IN_MAIN(b));
	ep_put(w, b->stack + 16, EB_IN_MAIN(b)); /* the same again */
	ep_put(w, b->stack + 24, 0x1230);        /* is in no module */
	ep_put(w, b->stack + 32, 0);
}

struct eb eb_make(struct ep *w)
{
	struct vp_beam in = layout();
	struct eb b = { 0 };

	b.scheduler = schedulers(w, &in, 0, 2) + EB_SCHEDULER_SIZE; /* the second */
	schedulers(w, &in, 1, 0);
	schedulers(w, &in, 2, 0);
	make_module(w, &in, &b);
	make_atoms(w, &in, &b);
	make_lines(w, &b);
	make_process(w, &b);
	for (uint32_t i = 0; i < VP_BEAM_REGISTERS; i++) {
		in.saved[i] = w->sent->map;
		in.saved[i].first_row = EP_ROWS * (i + 1);
		for (uint32_t k = 0; k < EP_ROWS; k++)
			w->sent->rows[EP_ROWS * (i + 1) + k] = w->sent->rows[k];
	}
	w->sent->runtime = (struct vp_runtime){ .kind = VP_RUNTIME_BEAM, .beam = in };
	eb_save(w, &b, true);
	return b;
}
