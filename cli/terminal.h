/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one way out to a terminal. Names and data are guests', VMMs' and other users', and a terminal obeys
 * what is printed: it is recoloured, its title set, its lines overwritten, its answers typed for the
 * operator. So whatever goes to a terminal, of any field, goes through a guard that lets text through and
 * puts a '?' for each other character:
 *
 *   controls (C0, DEL, C1, alone or as UTF-8) but tab, newline and carriage return before newline
 *   what changes the direction of text around it (Unicode's bidi controls), and line and paragraph separators
 *   what is no UTF-8; and all that is not ASCII where the locale's characters are not UTF-8
 *
 * The text of a program's own formats, and our own screen control, go out by cli_terminal_raw(). A file or
 * pipe gets every byte as it is.
 */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/** stdout and stderr of this process. Before anything is printed. */
void cli_terminal_guard_all(void);

/** A stream in @p fp's place, which it owns; by it @p fp's descriptor may become a terminal's later
 * (cli_terminal_redirected()). @p fp itself when there is no memory for it and it is no terminal; else NULL.
 */
FILE *cli_terminal_guard(FILE *fp);

/** Bytes that a terminal is to obey. */
void cli_terminal_raw(FILE *fp, const void *data, size_t len);

/** As fileno(), also of what is guarded. */
int cli_terminal_fileno(FILE *fp);

/** The descriptor of @p fp is another file by now. */
void cli_terminal_redirected(FILE *fp);

/** The guard on descriptor @p fd, whatever that is: for tests. */
FILE *cli_terminal_guard_test(int fd, bool utf8);

#endif
