/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data as named texts, for outputs that have labels: an aggregation's keys, a record's data. */
#ifndef CONSUMER_OUTPUT_KEYS_H
#define CONSUMER_OUTPUT_KEYS_H

#include "base/buf.h"
#include "consumer/output/text.h"

#define CON_KEY_NAME_MAX 32

/** The built-in variable that the datum is ("execname"); NULL: another expression. */
const char *con_datum_variable(const struct con_datum *d);

/** The name of datum @p i of @p data: its built-in variable, unless an earlier one has that name, else "key"
 * and its number. A letter, then letters, digits and '_'. */
void con_key_name(const struct con_datum *data, unsigned i, char buf[CON_KEY_NAME_MAX]);

/** Append a datum's value as UTF-8: a number, a string, a name, a stack's frames from the outermost on, with
 * ';' between them; bytes that are no text in hexadecimal. */
void con_key_text(struct ot_buf *out, struct con_printer *p, const struct con_datum *d);

/** Append the name of a row of an aggregation: "@name[key, key]". */
void con_key_title(struct ot_buf *out, struct con_printer *p, const struct con_agg *agg,
		   const struct con_row *row);

/** Append bytes that distinguish a row of @p source from all others of its session. */
void con_key_identity(struct ot_buf *out, const struct con_agg *agg, const struct con_agg_source *source,
		      const struct con_row *row);

#endif
