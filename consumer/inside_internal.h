/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by inside*.c: a text's lines and words, and functions on them. */
#ifndef CONSUMER_INSIDE_INTERNAL_H
#define CONSUMER_INSIDE_INTERNAL_H

#include "consumer/inside.h"

#define CON_INSIDE_WORDS 32u /* of a line; the last one has the rest of the line */

struct con_word {
	const char *at;
	size_t len;
};

struct con_line {
	const char *at;
	size_t len; /* without its end, and blanks before that */
	struct con_word words[CON_INSIDE_WORDS];
	size_t n; /* not 0 */
};

struct con_text_reader;

/* A kind of text. */
struct con_text_shape {
	const char *what;                   /* "ps" */
	const struct con_hidden_kind *kind; /* what it lists */
	bool (*is)(const struct con_line *first);
	/* The first line is a heading. */
	bool has_heading;
	/* One line; BAD_DATA by con_inside_bad(). */
	struct ot_err *(*line)(struct con_text_reader *r, const struct con_line *line);
	/* Is the text whole? NULL: it can't be known. */
	struct ot_err *(*end)(struct con_text_reader *r);
};

struct con_text_reader {
	const char *name; /* of the text */
	const struct con_text_shape *shape;
	struct con_inside *in;
	struct con_line heading;
	uint64_t line; /* number of the line, from 1 */
	/* Of some shapes. */
	bool has_first_process; /* ps */
	bool is_udp, is_v6;     /* /proc/net: the table that these lines are of */
};

/** BAD_DATA: "FILE:12: this is no line of ss". */
OT_MUST_CHECK struct ot_err *con_inside_bad(const struct con_text_reader *r);
/** Add an item to what the text lists; @p id as of struct vp_found. */
OT_MUST_CHECK struct ot_err *con_inside_add(struct con_text_reader *r, uint64_t id, const char *name,
					    size_t len);
/** Is the word this text? */
bool con_word_is(const struct con_word *w, const char *text);
/** An unsigned number in @p base; false: it is none, or more than @p max. */
bool con_word_number(const struct con_word *w, int base, uint64_t max, uint64_t *ret);
/** From word @p i to the end of the line. */
struct con_word con_line_rest(const struct con_line *line, size_t i);

/** The name by which a program requests a library, from a file's path: the part behind the last slash, with
 * one number at most behind ".so". As long as the path at most. */
void con_inside_soname(const char *path, struct ot_buf *out);

/* Each ends with a shape whose `what` is NULL. */
extern const struct con_text_shape con_inside_lists[], con_inside_sockets[];

#endif
