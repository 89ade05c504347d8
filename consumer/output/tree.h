/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing a tree of named values to a FILE, as JSON or as XML. In JSON a list is an array; in XML each of its
 * items is an element with the list's name, as libxo has it:
 *
 *   {"output": [{"value": 1}, {"value": 2}]}      <output><value>1</value></output><output>…</output>
 *
 * Text may be any bytes: what JSON or XML cannot hold becomes U+FFFD. Errors of writing stay in the FILE.
 */
#ifndef CONSUMER_OUTPUT_TREE_H
#define CONSUMER_OUTPUT_TREE_H

#include "base/json.h"

struct con_tree {
	FILE *fp; /* borrowed */
	bool xml, pretty;
	struct ot_json json;
	/* XML: what is open */
	unsigned depth;
	struct {
		const char *name; /* of the object, or of the list's items; NULL: the root */
		bool is_list;
	} open[OT_JSON_DEPTH];
};

/** @p pretty: a line for each value, indented. */
void con_tree_init(struct con_tree *t, FILE *fp, bool xml, bool pretty);

/** Begin an object. @p name NULL: the root, or the innermost list's next item. Names are XML names, and stay
 * valid until the end. */
void con_tree_object(struct con_tree *t, const char *name);
/** Begin a list; its items are objects, or values without a name. */
void con_tree_list(struct con_tree *t, const char *name);
/** End the innermost object or list. */
void con_tree_end(struct con_tree *t);

/** A value; @p name NULL: the innermost list's next item. */
void con_tree_text(struct con_tree *t, const char *name, const void *text, size_t len);
void con_tree_string(struct con_tree *t, const char *name, const char *text);
void con_tree_int(struct con_tree *t, const char *name, int64_t n);
void con_tree_bool(struct con_tree *t, const char *name, bool value);

/** The root has ended: a newline; the next object begins another tree. INTERNAL: something is still open, or
 * stood where it must not. */
OT_MUST_CHECK struct ot_err *con_tree_finish(struct con_tree *t);

#endif
