/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * beam: a stand-in for Erlang's machine, where it interprets: its variables have the names and forms of OTP
 * 25's, those that it does not export included, and its interpreter keeps a process's stack and instruction
 * in registers, which differ from what the process has stored. At each SIGUSR1 it interprets a process whose
 * functions call each other, and says its stack, a line for each time:
 *
 *     WHERE|module:function/arity (file:line)|…
 *     done
 *
 * WHERE is "saving" where the interpreter has called a function that saves its registers and writes that
 * line, and "quiet" where the one that is called leaves them alone, so that they are the processor's.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rounds.h"

#define EXPORT     __attribute__((visibility("default")))
#define ATOM(n)    ((uint64_t)(n) << 6 | 0x0b)
#define SMALL(n)   ((uint64_t)(n) << 4 | 15)
#define NIL        0x3bull
#define CODE_WORDS 64
#define SCHEDULER  (0xa300 / 8) /* words */
#define HEAP_WORDS 64

void process_main(uint64_t *process, uint64_t *stack, uint64_t instruction, void (*call)(void));

/* --- what Erlang's file exports ------------------------------------------------------------------------ */

EXPORT const char etp_otp_release[] = "25";
EXPORT const int etp_beamasm = 0;
EXPORT uint64_t *erts_aligned_scheduler_data, *erts_aligned_dirty_cpu_scheduler_data,
    *erts_aligned_dirty_io_scheduler_data;
EXPORT uint64_t erts_no_schedulers = 2, erts_no_dirty_cpu_schedulers = 1, erts_no_dirty_io_schedulers;
EXPORT int the_active_code_index = 1;
EXPORT uint64_t erts_atom_table[16];
EXPORT void erts_dirty_process_main(void);

void erts_dirty_process_main(void)
{
}

/* Of a process: where its stack is, and the instruction. It saves what it uses, as compiled code does. */
__asm__(".globl process_main\n"
	".type process_main, @function\n"
	"process_main:\n"
	"	.cfi_startproc\n"
	"	push %r13\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %r13, -16\n"
	"	push %r12\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %r12, -24\n"
	"	push %rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	.cfi_offset %rbx, -32\n"
	"	mov %rdi, %r12\n"
	".rept 8\n"
	"	mov 0x58(%r12), %r13\n"
	"	mov %rbx, 0xf8(%r12)\n"
	".endr\n"
	"	mov %rsi, %r13\n"
	"	mov %rdx, %rbx\n"
	"	call *%rcx\n"
	"	pop %rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %r12\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	pop %r13\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size process_main, .-process_main\n");

/* --- its memory ---------------------------------------------------------------------------------------- */

static uint64_t schedulers[2 * SCHEDULER], dirty_schedulers[SCHEDULER], process[64], heap[HEAP_WORDS];
static uint64_t tables[12], modules[2], code[CODE_WORDS], *atoms[8], *atom_pages[1], atom_words[8][5];
static uint64_t lines[6], entries[5], files[1], cells[16], *stack;
static uint16_t places[4];

enum { MODULE, LEAF, OUTER };

EXPORT uint64_t *erts_start_staging_ranges(unsigned n);

/* Refers to the tables, which are not exported. */
uint64_t *erts_start_staging_ranges(unsigned n)
{
	return &tables[4 * n];
}

static void make_atom(unsigned n, const char *name)
{
	const uint16_t length = (uint16_t)strlen(name);

	memcpy(&atom_words[n][3], &length, sizeof(length));
	atom_words[n][4] = (uint64_t)name;
	atoms[n] = atom_words[n];
}

static void make_atoms(void)
{
	make_atom(MODULE, "standin");
	make_atom(LEAF, "leaf");
	make_atom(OUTER, "outer");
	atom_pages[0] = (uint64_t *)(void *)atoms;
	erts_atom_table[15] = (uint64_t)atom_pages;
}

static uint64_t make_list(const char *text)
{
	const size_t n = strlen(text);

	for (size_t i = 0; i < n; i++) {
		cells[2 * i] = SMALL((uint8_t)text[i]);
		cells[2 * i + 1] = i + 1 < n ? (uint64_t)&cells[2 * i + 2] | 1 : NIL;
	}
	return (uint64_t)cells | 1;
}

/* A function: an instruction, a word, its name. */
static void make_function(unsigned at, unsigned name, uint64_t arity)
{
	code[at + 2] = ATOM(MODULE);
	code[at + 3] = ATOM(name);
	code[at + 4] = arity;
}

/* A module's head of 12 words, where its functions are, two of them. */
static void make_module(void)
{
	code[0] = 2;
	code[9] = (uint64_t)lines;
	code[12] = (uint64_t)&code[20];
	code[13] = (uint64_t)&code[40];
	code[14] = (uint64_t)&code[60];
	make_function(20, LEAF, 0);
	make_function(40, OUTER, 2);
	modules[0] = (uint64_t)code;
	modules[1] = (uint64_t)&code[60];
	tables[4] = (uint64_t)modules;
	tables[5] = tables[6] = 1;
	tables[7] = (uint64_t)modules;
}

/* Two lines of each function. */
static void make_lines(void)
{
	static const unsigned at[] = { 25, 32, 45, 55 };

	for (unsigned i = 0; i < 4; i++) {
		entries[i] = (uint64_t)&code[at[i]];
		places[i] = (uint16_t)(10 * (i + 1));
	}
	files[0] = make_list("s.erl");
	lines[0] = (uint64_t)files;
	lines[1] = 2;
	lines[2] = (uint64_t)places;
	for (unsigned i = 0; i < 3; i++)
		lines[3 + i] = (uint64_t)&entries[2 * i];
}

/* What the process has stored is an older stack, without its innermost frames. */
static void make_process(void)
{
	for (unsigned i = 0; i < HEAP_WORDS; i++)
		heap[i] = SMALL(i);
	stack = &heap[HEAP_WORDS - 8];
	stack[1] = (uint64_t)&code[50]; /* in the first line of outer() */
	stack[2] = (uint64_t)&code[50]; /* … which calls itself */
	stack[4] = (uint64_t)&code[56]; /* in its second */
	process[11] = (uint64_t)&stack[6];
	process[15] = (uint64_t)heap;
	process[16] = (uint64_t)&heap[HEAP_WORDS];
	for (unsigned i = 0; i < 2; i++)
		schedulers[SCHEDULER * i + 23] = i + 1;
	dirty_schedulers[24] = 1;
	schedulers[SCHEDULER + 4] = (uint64_t)pthread_self();
	schedulers[SCHEDULER + 21] = (uint64_t)process;
	erts_aligned_scheduler_data = schedulers;
	erts_aligned_dirty_cpu_scheduler_data = dirty_schedulers;
}

/* --- a round ------------------------------------------------------------------------------------------- */

#define STACK "standin:leaf/0 (s.erl:20)|standin:outer/2 (s.erl:30)|standin:outer/2 (s.erl:40)\n"

/* The system call is its: libc's function, and this one, have a frame each. */
__attribute__((noipa)) void saving(void)
{
	static const char line[] = "saving|" STACK;

	__asm__ volatile("xor %%ebx, %%ebx; xor %%r12d, %%r12d; xor %%r13d, %%r13d"
			 :
			 :
			 : "rbx", "r12", "r13");
	if (write(1, line, sizeof(line) - 1) < 0)
		_exit(1);
}

__attribute__((noipa)) EXPORT void quiet(void)
{
	__asm__ volatile("nop");
}

static void round_of(long n)
{
	(void)n;
	process_main(process, stack, (uint64_t)&code[33], saving);
	process_main(process, stack, (uint64_t)&code[33], quiet);
	fputs("quiet|" STACK, stdout);
}

int main(void)
{
	make_atoms();
	make_module();
	make_lines();
	make_process();
	do_rounds(round_of, 0);
	return 1;
}
