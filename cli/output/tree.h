/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writing a tree of named values to a FILE, as JSON or as XML. In JSON a list is an array; in XML each of its
 * items is an element with the list's name, as libxo has it:
 *
 *   {"output": [{"value": 1}, {"value": 2}]}      <output><value>1</value></output><output>…</output>
 *
 * Text may be any bytes: what JSON or XML cannot hold becomes U+FFFD. Errors of writing stay in the FILE.
 */
#ifndef CLI_OUTPUT_TREE_H
#define CLI_OUTPUT_TREE_H

#include "base/json.h"

struct cli_tree {
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
void cli_tree_init(struct cli_tree *t, FILE *fp, bool xml, bool pretty);

/** Begin an object. @p name NULL: the root, or the innermost list's next item. Names are XML names, and stay
 * valid until the end. */
void cli_tree_object(struct cli_tree *t, const char *name);
/** Begin a list; its items are objects, or values without a name. */
void cli_tree_list(struct cli_tree *t, const char *name);
/** End the innermost object or list. */
void cli_tree_end(struct cli_tree *t);

/** A value; @p name NULL: the innermost list's next item. */
void cli_tree_text(struct cli_tree *t, const char *name, const void *text, size_t len);
void cli_tree_string(struct cli_tree *t, const char *name, const char *text);
void cli_tree_int(struct cli_tree *t, const char *name, int64_t n);
void cli_tree_bool(struct cli_tree *t, const char *name, bool value);

/** The root has ended: a newline; the next object begins another tree. INTERNAL: something is still open, or
 * stood where it must not. */
OT_MUST_CHECK struct ot_err *cli_tree_finish(struct cli_tree *t);

#endif
