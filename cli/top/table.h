/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of the live view: rows of a name and numbers, in an order. Knows neither where they come from nor a
 * terminal. */
#ifndef CLI_TOP_TABLE_H
#define CLI_TOP_TABLE_H

#include <stdint.h>

#include "base/err.h"
#include "cli/top/text.h"

#define CLI_TOP_VALUES 12

struct cli_top_column {
	const char *title;
	enum cli_top_form form;
	unsigned width;
	unsigned value; /* its number in a row's values */
};

/* The columns of rows, and their form. The name is the first column and gets the room that the others
 * leave. */
struct cli_top_shape {
	const char *name; /* title of the names' column */
	const struct cli_top_column *columns;
	unsigned ncolumns;
	bool in_order; /* rows keep the order in which they were added; unknown values are blank */
};

struct cli_top_row {
	uint64_t id;                   /* identifies the row's object from one refresh to the next */
	char *name;                    /* escaped; owned by the table */
	double values[CLI_TOP_VALUES]; /* NAN: not known */
};

struct cli_top_table {
	const struct cli_top_shape *shape;
	struct cli_top_row *rows;
	size_t count, cap;
};

void cli_top_table_deinit(struct cli_top_table *t);
/** Without rows, in the form of @p shape. */
void cli_top_table_clear(struct cli_top_table *t, const struct cli_top_shape *shape);

/** Add a row whose name is @p name, of which @p n bytes are escaped here. All its values are unknown. */
OT_MUST_CHECK struct ot_err *cli_top_table_add(struct cli_top_table *t, uint64_t id, const char *name,
					       size_t n, struct cli_top_row **ret);

/** Put the rows in the order of a column: 0 the name, from small to great, 1 and so on the shape's, from
 * great to small, unknown values last. @p reversed: the opposite order. Rows that are equal are in the order
 * of their names, then of their ids. */
void cli_top_table_sort(struct cli_top_table *t, unsigned column, bool reversed);

/** The number of the row of @p id; count: there is none. */
size_t cli_top_table_find(const struct cli_top_table *t, uint64_t id);

/** Append the line of titles, or of a row, in exactly @p width columns of a terminal. @p sorted: the column
 * to mark. */
void cli_top_table_titles(const struct cli_top_table *t, unsigned sorted, unsigned width, struct ot_buf *out);
void cli_top_table_line(const struct cli_top_table *t, size_t row, unsigned width, struct ot_buf *out);

/** The width in which no name is cut off. */
unsigned cli_top_table_width(const struct cli_top_table *t);

#endif
