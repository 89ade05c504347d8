/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source that is being read. */
#ifndef DIF_LANG_SYNTAX_UNIT_H
#define DIF_LANG_SYNTAX_UNIT_H

#include "dif/lang/core/source.h"
#include "dif/lang/syntax/ast.h"
#include "dif/lang/syntax/lex.h"
#include "dif/lang/types/world.h"

struct dif_parse_client;

struct dif_unit {
	const struct dif_source *src;
	const struct dif_parse_client *client;
	struct dif_lexer lex;
	struct dif_token tok;
	uint32_t nesting; /* of the recursive descent */
	uint32_t ncopied; /* nodes, for this clause or definition */
	bool uses_args;   /* args[] occurs in the clause or inline being read */
	bool is_library;
	bool saw_anything;
};

#endif
