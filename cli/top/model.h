/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The state of the live view: the operator's position (guests, a guest's processes, a process's functions,
 * the stacks through a function), the selection, the question. Knows no terminal: keys come in
 * (cli_top_key()), lines go out (view.h).
 */
#ifndef CLI_TOP_MODEL_H
#define CLI_TOP_MODEL_H

#include "cli/top/answer.h"
#include "cli/top/guests.h"

enum cli_top_level { CLI_TOP_GUESTS, CLI_TOP_PROCESSES, CLI_TOP_FUNCTIONS, CLI_TOP_STACKS, CLI_TOP_LEVELS };

/* What is shown instead of the rows. */
enum cli_top_sheet {
	CLI_TOP_ROWS,
	CLI_TOP_HELP,
	CLI_TOP_PROGRAM,
	CLI_TOP_ASK_PROBES, /* in the line of messages: may probes be enabled? */
	CLI_TOP_ASK_FILE,   /* … which file? */
};

/* Keys that are no character. */
enum {
	CLI_TOP_KEY_UP = 0x110000,
	CLI_TOP_KEY_DOWN,
	CLI_TOP_KEY_PAGE_UP,
	CLI_TOP_KEY_PAGE_DOWN,
	CLI_TOP_KEY_HOME,
	CLI_TOP_KEY_END,
	CLI_TOP_KEY_ENTER,
	CLI_TOP_KEY_BACK,
	CLI_TOP_KEY_ERASE,
};

/* What the caller of cli_top_key() must do. */
enum cli_top_act {
	CLI_TOP_GO_ON,
	CLI_TOP_QUIT,
	CLI_TOP_SAVE,    /* the program to the file m->input */
	CLI_TOP_REFRESH, /* at once */
};

/* The selected row of a level and the order of its rows. */
struct cli_top_order {
	unsigned column; /* as cli_top_table_sort() */
	bool reversed;
	uint64_t selected; /* its id */
	size_t row;        /* and its position: if the row disappears, the next one is selected */
	size_t first;      /* the first row that is shown */
};

struct cli_top_model {
	enum cli_top_level level;
	struct cli_top_order orders[CLI_TOP_LEVELS];
	bool exits; /* guests by the kinds of their exits */
	enum cli_top_sheet sheet;
	size_t sheet_row;  /* the first line that is shown of help, or of a program */
	size_t page;       /* rows that are shown at a time */
	char input[256];   /* a file's name, as it is typed */
	char message[256]; /* "": none */

	uint32_t guest; /* the path: the VMM's PID, a process of the guest, a function */
	uint32_t process;
	char *guest_name, *process_name, *function; /* escaped; owned */
	bool probes;       /* the operator has allowed them, for the guest of the path */
	uint32_t *counted; /* guests whose system calls are counted; owned */
	size_t ncounted, counted_cap;
	uint32_t asked; /* the guest whose probes await the operator's consent, and its name */
	char *asked_name;

	unsigned period_ms;
	struct cli_top_table table; /* what is shown */
};

void cli_top_model_init(struct cli_top_model *m, unsigned period_ms);
void cli_top_model_deinit(struct cli_top_model *m);

/** Take a key. A message is shown until the next one. */
enum cli_top_act cli_top_key(struct cli_top_model *m, int key);

/** The screen's question to the guest of the path; its subject is NOTHING in the list of guests. */
struct cli_top_question cli_top_model_question(const struct cli_top_model *m);

/** The question whose program `d` shows: that of the screen, or of the selected guest if its system calls are
 * counted. */
struct cli_top_question cli_top_model_shown(const struct cli_top_model *m);

/** Bring the table up to date, in order, with the same row selected. @p answer: to the screen's question. */
OT_MUST_CHECK struct ot_err *cli_top_model_fill(struct cli_top_model *m, const struct cli_top_guests *guests,
						const struct cli_top_answer *answer);

/** Are this guest's system calls to be counted? */
bool cli_top_model_counts(const struct cli_top_model *m, uint32_t guest);
/** They are no longer counted: its session has ended. */
void cli_top_model_uncount(struct cli_top_model *m, uint32_t guest);

/** Back to the guests: the one of the path has gone. */
void cli_top_model_home(struct cli_top_model *m, const char *why);

#endif
