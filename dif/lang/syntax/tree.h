/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * -x tree=MASK: the syntax tree as text, one node a line, indented by depth: its kind, its name or operator,
 * its type once it has one.
 */
#ifndef DIF_LANG_SYNTAX_TREE_H
#define DIF_LANG_SYNTAX_TREE_H

#include "base/buf.h"
#include "dif/lang/syntax/ast.h"

/* After which pass; bits of the option. */
enum dif_tree_pass {
	DIF_TREE_PARSED = 1,   /* as the parser made it */
	DIF_TREE_COOKED = 2,   /* names resolved, types known, code generated */
	DIF_TREE_EXPANDED = 8, /* cut at its ifs */
};

/** Append a clause's predicate and body (either may be NULL) to the compiler's tree text, if the option asks
 * for this pass. */
void dif_tree_note(struct dif_compiler *c, enum dif_tree_pass pass, const struct dif_node *predicate,
		   const struct dif_node *body);

#endif
