/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The D texts that are compiled into one program, in order, with their arguments and options. */
#ifndef CONSUMER_TEXTS_H
#define CONSUMER_TEXTS_H

#include "dif/lang/compile.h"

/* A growing list of borrowed strings. */
struct con_strings {
	const char **items;
	size_t count, cap;
};

/** Append @p s. A NULL stays behind the last item: execv() and $n want it. False: no memory. */
OT_MUST_CHECK bool con_strings_add(struct con_strings *list, const char *s);

/* One text: -s FILE, or one of -P -m -f -n -i. */
struct con_program {
	bool is_script;
	enum dif_spec spec;
	const char *arg;  /* the file, or the text */
	const char *text; /* of a script, once it was read; set before: the file need not be here */
	size_t len;
	struct con_strings *args; /* its $0, $1 …; NULL: those of all texts */
};

/* All is borrowed. */
struct con_texts {
	struct dif_options *opts;
	struct con_program *items;
	size_t count;
	struct con_strings *args;          /* $0, $1 …; NULL behind the last */
	const struct con_strings *cpp;     /* -D, -U, -I, -H and -X as cpp takes them, in order */
	const struct con_strings *libdirs; /* -L */
	struct ot_arena *arena;            /* scripts are kept there */
	const char *dof;                   /* a saved program instead of texts; NULL */
};

#endif
