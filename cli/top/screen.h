/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal of the live view: all of the code that uses curses, and nothing else. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H

#include <stdio.h>

#include "cli/top/view.h"

struct cli_top_screen {
	FILE *out;    /* the terminal, without the guard of terminal.h: our text is escaped already */
	void *curses; /* SCREEN */
};

/** Take over the terminal that is stdin and stdout. UNSUPPORTED: they are no terminal, or curses does not
 * know it. */
OT_MUST_CHECK struct ot_err *cli_top_screen_open(struct cli_top_screen *s);
/** Give it back as it was. */
void cli_top_screen_close(struct cli_top_screen *s);

/** Draw the view in the terminal's present size; sets m->page. */
OT_MUST_CHECK struct ot_err *cli_top_screen_draw(struct cli_top_screen *s, struct cli_top_model *m,
						 const struct cli_top_heading *heading);

/** A key that was typed, as cli_top_key() takes it. -1: none is waiting; 0: the terminal has another size, or
 * the key has no function. */
int cli_top_screen_key(struct cli_top_screen *s);

#endif
