/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The question of a screen of the live view to a guest, as a D program, and the lines of its answer. */
#ifndef CLI_TOP_QUESTION_H
#define CLI_TOP_QUESTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

enum cli_top_subject {
	CLI_TOP_ASK_NOTHING,
	CLI_TOP_ASK_CALLS,     /* a guest's system calls */
	CLI_TOP_ASK_PROCESSES, /* the activity of each of its processes */
	CLI_TOP_ASK_STACKS,    /* the functions of one of them */
};

struct cli_top_question {
	enum cli_top_subject subject;
	uint32_t guest;   /* the PID of its VMM */
	uint32_t process; /* in the guest: CLI_TOP_ASK_STACKS */
	bool probes;      /* an engine may be injected, and the guest probed; else samples only */
	unsigned period_ms;
};

/* Samples of each vCPU in a second. */
#define CLI_TOP_HZ 97

bool cli_top_question_same(const struct cli_top_question *a, const struct cli_top_question *b);

/**
 * Append the program. At each period it prints lines, of which "end" is the last:
 *
 *   calls N                                    system calls
 *   process PID SAMPLES CALLS FAULTS IOS NAME   "-" where it is not counted; the name as %S has it
 *   stack SAMPLES                              since it began; then its frames, the innermost first, each
 * behind two blanks
 */
void cli_top_program(const struct cli_top_question *q, struct ot_buf *out);

#define CLI_TOP_WORDS 16

/** The command line that runs @p program, which outlives it: argv for cli_top_feed_start(). @p guest: room
 * for its PID. */
void cli_top_command(const struct cli_top_question *q, const char *program, char guest[16],
		     const char *argv[CLI_TOP_WORDS]);

/** Append the program as a script, with its command line: for cli_top_save(), and for display. */
void cli_top_script(const struct cli_top_question *q, struct ot_buf *out);

#endif
