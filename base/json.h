/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing JSON, value by value, to a FILE. The writer puts the commas, quotes and brackets, and checks that
 * values stand where JSON allows them: a misuse is an error of ot_json_finish(), never a malformed document
 * that goes unnoticed. Errors of writing stay in the FILE (ferror). A writer belongs to one thread.
 */
#ifndef OT_BASE_JSON_H
#define OT_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

/* Objects and arrays that may be open at once. */
#define OT_JSON_DEPTH 32

/* Where the elements of an array or the members of an object stand. */
enum ot_json_style {
	OT_JSON_INLINE, /* on one line */
	OT_JSON_LINES,  /* each on a line of its own, indented by two blanks */
	OT_JSON_NESTED, /* each on a line of its own, indented by two blanks for each that is open */
};

struct ot_json {
	FILE *fp;
	const char *misuse; /* the first; nothing is written after it */
	unsigned depth;
	bool after_key; /* a key waits for its value */
	bool complete;  /* the document's value is written */
	struct {
		bool is_object, has_items;
		enum ot_json_style style;
	} open[OT_JSON_DEPTH];
};

/** Begin a document on @p fp (borrowed). */
void ot_json_init(struct ot_json *j, FILE *fp);

/** End a document with a newline; the next value begins another. INTERNAL: a value stood where it must not,
 * the document was not complete, or it nested too deeply. */
OT_MUST_CHECK struct ot_err *ot_json_finish(struct ot_json *j);

void ot_json_object(struct ot_json *j, enum ot_json_style style);
void ot_json_array(struct ot_json *j, enum ot_json_style style);
/** Close the innermost object or array. */
void ot_json_end(struct ot_json *j);

/** The name of an object's next member. */
void ot_json_key(struct ot_json *j, const char *name);

/** A string of any bytes. What is written is valid UTF-8: each byte that is not part of a valid sequence
 * becomes U+FFFD. */
void ot_json_string(struct ot_json *j, const char *s);
/** The same for @p len bytes, which may hold NULs. */
void ot_json_text(struct ot_json *j, const void *text, size_t len);

/** An object's next member, name and value. */
void ot_json_member_string(struct ot_json *j, const char *name, const char *value);
void ot_json_member_uint(struct ot_json *j, const char *name, uint64_t value);

void ot_json_int(struct ot_json *j, int64_t n);
void ot_json_uint(struct ot_json *j, uint64_t n);
/** With @p decimals digits after the point; null if @p n is not finite. */
void ot_json_fixed(struct ot_json *j, double n, int decimals);
void ot_json_bool(struct ot_json *j, bool value);
void ot_json_null(struct ot_json *j);

#endif
