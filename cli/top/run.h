/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view at work: guests read at each period, the sessions that screens ask for, keys. */
#ifndef CLI_TOP_RUN_H
#define CLI_TOP_RUN_H

#include "cli/top/guests.h"

struct cli_top_options {
	unsigned period_ms;
	unsigned long times;   /* refreshes, then it ends; 0: until it is ended */
	const char *column;    /* the title of the column by which guests are sorted; NULL: the CPU's */
	const char **patterns; /* guests; none: all */
	size_t npatterns;
	bool exits; /* guests' exits by kind */
};

/** On the terminal. The exit status. */
int cli_top_run(const struct cli_top_options *o);

/** The list of guests as lines on stdout, at each period. The exit status. */
int cli_top_batch(const struct cli_top_options *o);

/** The selected guests of this host, none of them read yet. Raises the limit of descriptors as far as
 * allowed. */
struct cli_top_guests cli_top_guests_here(const struct cli_top_options *o);

/** The column of a title in the list of guests, as cli_top_table_sort() takes it. NOT_FOUND: there is none;
 * the message names the existing ones. */
OT_MUST_CHECK struct ot_err *cli_top_column_find(const struct cli_top_options *o, unsigned *ret);

#endif
