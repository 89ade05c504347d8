/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of RUN, as the texts and options of a session. */
#ifndef FLEET_HOST_RUN_H
#define FLEET_HOST_RUN_H

#include "consumer/texts.h"

/* Its parts point to each other: it must not be moved. */
struct fl_run_here {
	struct ot_arena arena;
	struct dif_options opts;
	struct con_strings args, none;
	struct con_texts texts;
	const char *guests;
};

void fl_run_here_init(struct fl_run_here *r);
void fl_run_here_deinit(struct fl_run_here *r);

/** Read a message RUN, once; nothing of it is borrowed. BAD_DATA: it is malformed. SYNTAX: an option or a
 * text is not valid, in words for the operator. */
OT_MUST_CHECK struct ot_err *fl_run_here_read(struct fl_run_here *r, const void *data, size_t len);

#endif
