/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A D text to compile, and how it was given. */
#ifndef DIF_LANG_CORE_SOURCE_H
#define DIF_LANG_CORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

enum dif_source_kind {
	DIF_SOURCE_SCRIPT,       /* -s */
	DIF_SOURCE_COMMAND_LINE, /* -n and friends: a bare specifier is a clause */
	DIF_SOURCE_LIBRARY,
};

/* What a bare word of a command-line specifier means: -n and -i, -f, -m, -P. */
enum dif_spec { DIF_SPEC_NAME, DIF_SPEC_FUNCTION, DIF_SPEC_MODULE, DIF_SPEC_PROVIDER };

struct dif_source {
	enum dif_source_kind kind;
	enum dif_spec spec;
	const char *name; /* file name or the specifier, for messages */
	const char *text;
	size_t len;
	const char *const *args; /* $0, $1 … */
	unsigned nargs;
	bool syntax_only; /* clauses are parsed and not compiled: there is nothing yet to compile them for */
};

#endif
