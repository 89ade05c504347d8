/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal of the live view: curses, and nothing else of it. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdio.h>

#include "cli/top/view.h"

struct cli_top_screen {
	FILE *out; /* the terminal, without the guard of terminal.h: what is written there is escaped by us */
	void *curses; /* SCREEN */
};

/** Take over the terminal that is stdin and stdout. UNSUPPORTED: it is none, or one that curses does not
 * know. */
OT_MUST_CHECK struct ot_err *cli_top_screen_open(struct cli_top_screen *s);
/** Give it back as it was. */
void cli_top_screen_close(struct cli_top_screen *s);

/** Draw the view in the terminal's present size; sets m->page. */
OT_MUST_CHECK struct ot_err *cli_top_screen_draw(struct cli_top_screen *s, struct cli_top_model *m,
						 const struct cli_top_heading *heading);

/** A key that was typed, as cli_top_key() takes it. -1: none is waiting; 0: the terminal has another size, or
 * the key is none of ours. */
int cli_top_screen_key(struct cli_top_screen *s);

#endif
