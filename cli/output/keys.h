/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data as named texts, for outputs that have labels: an aggregation's keys, what a record holds. */
#ifndef CLI_OUTPUT_KEYS_H
#define CLI_OUTPUT_KEYS_H

#include "base/buf.h"
#include "cli/output/print.h"

#define CLI_KEY_NAME_MAX 32

/** The built-in variable that the datum is ("execname"); NULL: another expression. */
const char *cli_datum_variable(const struct cli_datum *d);

/** What datum @p i of @p data is called: the built-in variable that it is, unless an earlier one has that
 * name, else "key" and its number. A letter, then letters, digits and '_'. */
void cli_key_name(const struct cli_datum *data, unsigned i, char buf[CLI_KEY_NAME_MAX]);

/** Append a datum's value as UTF-8: a number, a string, a name, a stack's frames from the outermost on, with
 * ';' between them; bytes that are no text in hexadecimal. */
void cli_key_text(struct ot_buf *out, struct cli_printer *p, const struct cli_datum *d);

#endif
