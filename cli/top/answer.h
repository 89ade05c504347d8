/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's answer: the lines of a question's program (question.h) as rows of a table. The guest chooses
 * their contents, so each line is checked, and the memory for them is bounded. */
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
	struct cli_top_period whole, next; /* the last complete one, and the one that is arriving */
	unsigned periods;                  /* complete ones */
	unsigned period_ms;
	bool failed; /* no memory */
};

/** Reset: no answer yet to a question of that period. */
void cli_top_answer_init(struct cli_top_answer *a, unsigned period_ms);
void cli_top_answer_deinit(struct cli_top_answer *a);

/** Take a line: for cli_top_feed_read(), @p answer is a struct cli_top_answer. Other lines are ignored. */
void cli_top_answer_line(void *answer, const char *line);

/** System calls in a second; NAN: not known yet. */
double cli_top_answer_calls(const struct cli_top_answer *a);

/** Fill a table: processes by their activity in the last period; functions by the samples of a process in
 * them since the question was asked, or the stacks through one of them, each line a frame. A process's id is
 * its PID. */
OT_MUST_CHECK struct ot_err *cli_top_answer_processes(const struct cli_top_answer *a,
						      struct cli_top_table *t);
OT_MUST_CHECK struct ot_err *cli_top_answer_functions(const struct cli_top_answer *a,
						      struct cli_top_table *t);
OT_MUST_CHECK struct ot_err *cli_top_answer_stacks(const struct cli_top_answer *a, const char *function,
						   struct cli_top_table *t);

#endif
