/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A translator as parsed: an expression for each member of a struct, given a value of another type. */
#ifndef DIF_LANG_SYNTAX_XLATOR_H
#define DIF_LANG_SYNTAX_XLATOR_H

#include "dif/lang/syntax/ast.h"

struct dif_xlmember {
	const char *name;
	struct dif_node *expr; /* not cooked */
	uint32_t line;
	struct dif_xlmember *next;
};

struct dif_xlator {
	struct dif_type *in, *out; /* out: the struct or union */
	const char *param;
	struct dif_xlmember *members;
	struct dif_xlator *next;
};

#endif
