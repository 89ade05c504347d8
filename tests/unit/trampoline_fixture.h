/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that executes trampolines on this machine's own CPU, for tests and the fuzzer: a site whose five
 * bytes are a jump, trampolines that may be executed and not written, two CPUs' per-CPU areas and data, of
 * which GS points to the one, and two tasks. What is executed is compared with what the interpreter says of
 * the same clauses.
 *
 * One at a time in a process: its entry and exit are assembly with variables of their own.
 */
#ifndef TESTS_UNIT_TRAMPOLINE_FIXTURE_H
#define TESTS_UNIT_TRAMPOLINE_FIXTURE_H

#include "dif/vm/vm.h"
#include "guest-agent/agent_abi.h"
#include "vmm-probe/trampoline/trampoline.h"

#define TF_CPUS        2u
#define TF_SPACING     0x20000u /* of the per-CPU areas, and so of data */
#define TF_PERCPU_SIZE 256u     /* of an area, what may be read */
#define TF_CURRENT     0x40
#define TF_PREEMPT     0x48
#define TF_TASK_SIZE   512u
#define TF_TASK_PID    0x20u
#define TF_TASK_TGID   0x24u
#define TF_TASK_COMM   0x1f0u /* to the end: what is read behind it is not the task's */
#define TF_LOST        0u
#define TF_WORDS       8u /* from there on */
#define TF_RING        0x8000u
#define TF_RECORDS     16u
#define TF_PORT        0x99u
#define TF_STRSIZE     64u
#define TF_STACK       4096u
#define TF_OFFSET      0x3a7u /* of a return in its function */

/* What was seen of the guest's registers, at the end or at an exit. */
struct tf_regs {
	uint64_t r[16]; /* by the numbers of encodings */
	uint64_t flags;
};

struct tf_machine {
	uint8_t *text;   /* the site, then trampolines */
	uint8_t *stack;  /* TF_STACK bytes; a hit begins at its end */
	uint8_t *tasks;  /* one for each CPU */
	uint8_t *percpu; /* TF_SPACING apart */
	uint8_t *data;   /* … the same */
	uint8_t *keys;   /* the room for a table of keys, at whose end it is; once a test gives it */
	struct vp_facts facts;
	struct vp_tramp_guest guest;
	struct vp_trampoline t;
	bool returns;           /* with VP_ARGS_FBT_RETURN: by a `ret` of its own, not by a thunk */
	enum vp_args site_args; /* of the compiled one */
	uint32_t len;           /* bytes of the trampoline */
	uint32_t exit_at;       /* offset of its exit; 0: none */
	unsigned cpu;           /* that hits */

	/* of the last hit */
	unsigned exits;
	struct tf_regs at_exit;
	unsigned steps; /* instructions of the trampoline, if they were counted */

	/* While instructions are stepped: called before the trampoline's instruction number @step, from 0,
	 * with its address. It may hit again. */
	void (*step)(struct tf_machine *m, unsigned step, uint64_t rip);
	void *arg;

	/* the interpreter */
	struct dif_vm vm;
	struct dif_var_layout vars;
	struct ot_arena arena;
	const uint64_t *args; /* registers of the hit that it evaluates */
	uint32_t epid, probe;
};

/** Never NULL. */
struct tf_machine *tf_create(void);
void tf_destroy(struct tf_machine *m);

/** Trampolines may have a table of keys, which is empty. */
void tf_give_keys(struct tf_machine *m);

/** The words of key number @p entry of the compiled trampoline's table. */
uint64_t *tf_key(const struct tf_machine *m, uint32_t entry);

/** Words and rings as before any hit; for the words of the compiled trampoline. Tasks and areas stay. */
void tf_reset(struct tf_machine *m);

/** Compile the clauses and put the trampoline into its place: a function's entry, or with VP_ARGS_FBT_RETURN
 * a return. An error is the compiler's. */
OT_MUST_CHECK struct ot_err *tf_compile(struct tf_machine *m, const struct dif_clause *clauses, uint32_t n,
					enum vp_args args);

/** One hit with these registers, which are then those at the end; RSP is the machine's. */
void tf_hit(struct tf_machine *m, struct tf_regs *regs);

/** The same, with m->steps counted and m->step called. */
void tf_hit_stepped(struct tf_machine *m, struct tf_regs *regs);

/** The task that hits goes on on another CPU: from a step, or before a hit. */
void tf_set_cpu(struct tf_machine *m, unsigned cpu);

/** What the rules of a trampoline leave alone is as it was: registers, stack, tasks, per-CPU areas. NULL, or
 * what is not (static). @p before: the registers that tf_hit() was given, and the stack was filled by
 * tf_fill_stack(). */
void tf_fill_stack(struct tf_machine *m);
const char *tf_intact(const struct tf_machine *m, const struct tf_regs *before, const struct tf_regs *after);

/** For tf_create(). False: no memory. */
bool tf_start_interpreter(struct tf_machine *m);

/** The interpreter's value of @p obj at a hit with these registers. */
enum dif_fault tf_eval(struct tf_machine *m, const struct tf_regs *regs, const struct dif_object *obj,
		       uint64_t *ret);

static inline uint8_t *tf_task(const struct tf_machine *m, unsigned cpu)
{
	return m->tasks + (size_t)cpu * TF_TASK_SIZE;
}

static inline uint64_t *tf_word(const struct tf_machine *m, unsigned cpu, uint32_t at)
{
	return (uint64_t *)(void *)(m->data + (size_t)cpu * TF_SPACING + at);
}

static inline struct ga_ring *tf_ring(const struct tf_machine *m, unsigned cpu)
{
	return (struct ga_ring *)(void *)(m->data + (size_t)cpu * TF_SPACING + TF_RING);
}

/** What makes a list's bytes harmless, by a disassembler (trampoline_harmless.c): NULL, or what is wrong
 * (static). */
const char *tf_harmless(const struct tf_machine *m, const uint8_t *code, uint32_t len, uint64_t at,
			const struct vp_tramp_end *end);

#endif
