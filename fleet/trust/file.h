/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that define rights: only their owner may be able to write them. And their lines. */
#ifndef FLEET_TRUST_FILE_H
#define FLEET_TRUST_FILE_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"

enum fl_file {
	FL_FILE_PUBLIC, /* others can read it */
	FL_FILE_SECRET, /* no other user can read it, and it is not a symbolic link */
};

/** Open @p path for reading. It must be a plain file of this user's or of root's that no other user can
 * write. NOT_FOUND: there is none. */
OT_MUST_CHECK struct ot_err *fl_trusted_open(const char *path, enum fl_file kind, int *ret_fd);

#define FL_LINES_MAX (2u << 20) /* bytes of such a file */
#define FL_WORDS_MAX 64u        /* of a line */

/* A file of lines of words; '#' at the beginning of a word ends its line. */
struct fl_lines {
	const char *path; /* for messages; borrowed */
	char *at;         /* in the arena */
	unsigned number;  /* of the line returned by fl_lines_next(), from 1 on */
	char *words[FL_WORDS_MAX];
	size_t nwords;
};

/** Read @p path, as FL_FILE_PUBLIC; the text goes to @p arena. */
OT_MUST_CHECK struct ot_err *fl_lines_open(const char *path, struct ot_arena *arena, struct fl_lines *ret);
/** The next line with a word; nwords is 0 after the last one. SYNTAX: too many words. */
OT_MUST_CHECK struct ot_err *fl_lines_next(struct fl_lines *lines);
/** SYNTAX, "PATH:LINE: …". */
OT_MUST_CHECK OT_NONNULL_RESULT struct ot_err *fl_lines_error(const struct fl_lines *lines, const char *fmt,
							      ...) OT_PRINTF(2, 3);

#endif
