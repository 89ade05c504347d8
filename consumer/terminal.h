/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way out to a terminal. Names and data are under the control of guests, VMMs and other users, and a
 * terminal interprets its input: escape sequences change colours, title and lines, and inject replies as the
 * operator's typing. So a guard filters all output to a terminal. It passes text, and replaces by a '?' each
 * of:
 *
 *   controls (C0, DEL, C1, alone or as UTF-8) but tab, newline and carriage return before newline
 *   Unicode's bidi controls, which reorder the text around them, and line and paragraph separators
 *   bytes that are not valid UTF-8; all non-ASCII characters if the locale is not UTF-8
 *
 * The text of a program's own formats, and our own screen control, are written by con_terminal_raw(). A file
 * or pipe gets every byte unchanged.
 */
#ifndef CONSUMER_TERMINAL_H
#define CONSUMER_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** stdout and stderr of this process. Before anything is printed. */
void con_terminal_guard_all(void);

/** A stream that replaces @p fp and owns it; @p fp's descriptor may become a terminal's later
 * (con_terminal_redirected()). @p fp itself when there is no memory for it and it is no terminal; else NULL.
 */
FILE *con_terminal_guard(FILE *fp);

/** Write bytes that the terminal is to interpret. */
void con_terminal_raw(FILE *fp, const void *data, size_t len);

/** As fileno(), also of a guarded stream. */
int con_terminal_fileno(FILE *fp);

/** The descriptor of @p fp is another file by now. */
void con_terminal_redirected(FILE *fp);

/* When to stop waiting for a reader that does not read, and has not closed its end either. */
struct con_terminal_patience {
	int fds[2];                    /* has_enough() is asked when one of these is readable; -1: none */
	bool (*has_enough)(void *arg); /* consumes the readable data */
	void *arg;
};

/** From now on writing to a guarded stream waits for room no longer than @p patience allows: then the rest,
 * and all later output on that stream, fails with ECANCELED. @p patience is borrowed until NULL is set, which
 * waits for ever. */
void con_terminal_wait(const struct con_terminal_patience *patience);
/** Has that happened? */
bool con_terminal_gave_up(void);

/** The guard on descriptor @p fd of any kind: for tests. */
FILE *con_terminal_guard_test(int fd, bool utf8);

#endif
