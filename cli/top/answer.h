/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest has answered: the lines of a question's program (question.h) as rows of a table. The lines
 * hold what a guest has chosen, so each is checked, and what is kept of them has a bound. */
#ifndef CLI_TOP_ANSWER_H
#define CLI_TOP_ANSWER_H

#include "base/arena.h"
#include "cli/top/question.h"
#include "cli/top/table.h"

struct cli_top_process {
	uint32_t pid;
	const char *name; /* its bytes */
	uint64_t samples;
	bool has_probes;
	uint64_t calls, faults, ios;
};

struct cli_top_stack {
	uint64_t samples;
	const char **frames; /* the innermost first */
	size_t nframes, cap;
};

/* The lines up to an "end". */
struct cli_top_period {
	struct ot_arena arena; /* texts */
	struct cli_top_process *processes;
	size_t nprocesses, processes_cap;
	struct cli_top_stack *stacks;
	size_t nstacks, stacks_cap;
	uint64_t calls;
};

struct cli_top_answer {
	struct cli_top_period whole, next; /* the last that has ended, and the one that comes in */
	unsigned periods;                  /* that have ended */
	unsigned period_ms;
	bool failed; /* no memory */
};

/** Nothing is answered yet to a question of that period. */
void cli_top_answer_init(struct cli_top_answer *a, unsigned period_ms);
void cli_top_answer_deinit(struct cli_top_answer *a);

/** Take a line: for cli_top_feed_read(), @p answer is a struct cli_top_answer. What is no such line is left
 * out. */
void cli_top_answer_line(void *answer, const char *line);

/** System calls in a second; NAN: not known yet. */
double cli_top_answer_calls(const struct cli_top_answer *a);

/** Fill a table: processes by what they did in the last period; functions by how often a process was in them
 * since the question was asked, or the stacks through one of them, each line a frame. A process's id is its
 * PID. */
OT_MUST_CHECK struct ot_err *cli_top_answer_processes(const struct cli_top_answer *a,
						      struct cli_top_table *t);
OT_MUST_CHECK struct ot_err *cli_top_answer_functions(const struct cli_top_answer *a,
						      struct cli_top_table *t);
OT_MUST_CHECK struct ot_err *cli_top_answer_stacks(const struct cli_top_answer *a, const char *function,
						   struct cli_top_table *t);

#endif
