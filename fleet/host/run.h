/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What RUN asks for, as the texts and options of a session. */
#ifndef FLEET_HOST_RUN_H
#define FLEET_HOST_RUN_H

#include "consumer/texts.h"

/* Its parts refer to each other: it stays where it is. */
struct fl_run_here {
	struct ot_arena arena;
	struct dif_options opts;
	struct con_strings args, none;
	struct con_texts texts;
	const char *guests;
};

void fl_run_here_init(struct fl_run_here *r);
void fl_run_here_deinit(struct fl_run_here *r);

/** Read a message RUN; nothing is borrowed of it. BAD_DATA: it is none. SYNTAX: an option or a text that is
 * not possible, in words for the operator. Once. */
OT_MUST_CHECK struct ot_err *fl_run_here_read(struct fl_run_here *r, const void *data, size_t len);

#endif
