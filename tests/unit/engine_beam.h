/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An Erlang machine in the process of engine_python.h: a scheduler whose thread runs a process of two frames,
 * in a module of two functions. */
#ifndef TESTS_UNIT_ENGINE_BEAM_H
#define TESTS_UNIT_ENGINE_BEAM_H

#include "tests/unit/engine_python.h"

/* Members, where no release has them. */
enum {
	EB_SCHEDULER_SIZE = 24,
	EB_SCHEDULER_THREAD = 8,
	EB_SCHEDULER_PROCESS = 16,
	EB_PROCESS_STACK = 0,
	EB_PROCESS_HEAP = 8,
	EB_PROCESS_HEAP_END = 16,
	EB_PROCESS_INSTRUCTION = 24,
	EB_CODE_LINES = 8,
	EB_CODE_FUNCTIONS = 16,
	EB_FUNCTION_NAME = 8,
	EB_LINES_WIDTH = 0,
	EB_LINES_FILES = 8,
	EB_LINES_PLACES = 16,
	EB_LINES_FUNCTIONS = 24,
	EB_ATOM_LENGTH = 0,
	EB_ATOM_NAME = 8,
};

#define EB_STACK_REG       VP_R13
#define EB_INSTRUCTION_REG VP_RBX
#define EB_EMULATOR        2u /* the function that interprets */
#define EB_WORDS           12u
#define EB_ATOM(n)         ((uint64_t)(n) << VP_BEAM_ATOM_SHIFT | 0x0b)
#define EB_SMALL(n)        ((uint64_t)(n) << 4 | 15)
#define EB_NIL             0x3bull

struct eb {
	uint64_t scheduler, process;
	uint64_t heap;   /* of EB_WORDS words; the stack is in its upper half */
	uint64_t stack;  /* its innermost word, as the emulator's register has it … */
	uint64_t in_reg; /* … and where a function of the stack has saved that register; the other one's is
			    below */
	uint64_t tables; /* of modules */
	uint64_t module, leaf, main;
	uint64_t atoms; /* pointers to them */
	uint64_t lines, places, cells;
};

/* Numbers of atoms. */
enum { EB_MODULE, EB_LEAF, EB_MAIN, EB_SPARE };

/* Addresses in its functions: in a line of its own each. */
#define EB_IN_LEAF(b) ((b)->leaf + 0x28)
#define EB_IN_MAIN(b) ((b)->main + 0x30) /* a return address */

#define EB_LEAF_TEXT "m:leaf/0 (a.erl:12)"
#define EB_MAIN_TEXT "m:main/2 (b.erl:21)"
#define EB_TEXTS     "@" EB_LEAF_TEXT "\n" EB_MAIN_TEXT

struct eb eb_make(struct ep *w);
/** A list of characters; up to 15. */
uint64_t eb_list(struct ep *w, const char *text);
/** An atom's name. */
void eb_name(struct ep *w, const struct eb *b, unsigned atom, const void *bytes, uint16_t length);
/** Whether a lower frame has saved the registers, or they are still the vCPU's. */
void eb_save(struct ep *w, const struct eb *b, bool saved);

#endif
