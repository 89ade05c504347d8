/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of the live view. Names are a guest's or another user's: the terminal gets only printable characters
 * that are one column wide. */
#ifndef CLI_TOP_TEXT_H
#define CLI_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/** Append @p n bytes: what is printable and one column wide by the locale (LC_CTYPE) as it is, each other
 * byte as \xNN. */
void cli_top_escape(struct ot_buf *out, const char *s, size_t n);

/** Append the bytes that D's printf("%S") has written as a C string's (\033, \n, \0 at the end). */
void cli_top_unescape(struct ot_buf *out, const char *s, size_t n);

/** Append an escaped text in exactly @p width columns: filled up with blanks, in front of it if @p right, or
 * cut off with a
 * '+' at its end. */
void cli_top_fit(struct ot_buf *out, const char *text, unsigned width, bool right);

enum cli_top_form {
	CLI_TOP_INTEGER, /* a PID */
	CLI_TOP_PERCENT, /* "12.3" */
	CLI_TOP_RATE,    /* "970", "12.3k", "4.5M": by thousands */
};

#define CLI_TOP_NUMBER 24

/** A number of at most six columns, a PID of at most ten. "-": it is not known (NAN). */
void cli_top_number(double value, enum cli_top_form form, char buf[CLI_TOP_NUMBER]);

#endif
