/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view as lines of text for a screen of some size. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include "cli/top/model.h"

enum cli_top_look { CLI_TOP_PLAIN, CLI_TOP_TITLE, CLI_TOP_MESSAGE, CLI_TOP_HEADING, CLI_TOP_SELECTED };

/* The contents of the first two lines besides the model's. */
struct cli_top_heading {
	struct cli_top_sums sums;
	const char *clock;  /* "14:03:22" */
	const char *status; /* the message of the guest's session; "": none */
};

/** How many rows a screen of that height shows; at least 1. */
size_t cli_top_page(unsigned height);

/** Hand each line of the screen to @p put: @p height of them, each exactly @p width columns wide. All text is
 * escaped. */
OT_MUST_CHECK struct ot_err *
cli_top_view(const struct cli_top_model *m, const struct cli_top_heading *heading, unsigned width,
	     unsigned height, void (*put)(void *arg, unsigned y, enum cli_top_look look, const char *line),
	     void *arg);

/** Append the lines of `d`: the program behind the screen, or its other source. */
void cli_top_program_sheet(const struct cli_top_model *m, struct ot_buf *out);

#endif
