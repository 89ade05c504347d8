/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that another program writes to a pipe, to be shown. That program is not trusted: a longer
 * one comes in pieces, controls are '?', and no call takes more than FL_LINES_AT_ONCE bytes.
 */
#ifndef FLEET_LINK_LINES_H
#define FLEET_LINK_LINES_H

#include <stdbool.h>
#include <stddef.h>

#define FL_LINE_MAX      512
#define FL_LINES_AT_ONCE ((size_t)64 << 10)

struct fl_lines {
	int fd;                                   /* non-blocking; -1: there is none, or it has ended */
	void (*say)(void *arg, const char *line); /* NULL: lines are not reported */
	void *arg;
	size_t len;
	char text[FL_LINE_MAX]; /* of the line that has begun */
	char last[FL_LINE_MAX]; /* the one that came last, "" */
};

/** Take what has come. At the end of the pipe the descriptor is closed. */
void fl_lines_read(struct fl_lines *l);
/** Close it. */
void fl_lines_close(struct fl_lines *l);

#endif
