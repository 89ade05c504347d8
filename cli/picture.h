/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The common parts of the verbs that make a page of a session (flame, heatmap): options, the session, the
 * file. */
#ifndef CLI_PICTURE_H
#define CLI_PICTURE_H

#include "base/buf.h"

/* The command line's options that all such verbs have. */
struct cli_picture {
	const char **guests; /* of -g */
	unsigned nguests;
	unsigned long seconds; /* of -d */
	const char *out;       /* of -o */
};

/* Such a verb. */
struct cli_picture_verb {
	const char *name;  /* also its word of -x oformat */
	const char *usage; /* the text of --help */
	const char *const
	    *options; /* "-g", "-d", "-o", its own, "--help"; NULL behind the last. All have values. */
	/** An option of its own. False: @p value is invalid. */
	bool (*take)(void *request, char letter, const char *value);
	/** The D program of the session, without the clause that ends it. */
	void (*program)(const void *request, const struct cli_picture *p, struct ot_buf *out);
	/** The value of -x aggrate, appended to @p out. NULL: the default. */
	void (*rate)(const void *request, struct ot_buf *out);
};

#define CLI_PICTURE_SECONDS "10"

/** Run the verb: @p request is filled by take(). The exit status. The file is replaced when the session has
 * ended well. */
int cli_picture_run(const struct cli_picture_verb *verb, void *request, int argc, char **argv);

/** A number from 1 to @p max. False: @p text is no such number. */
bool cli_picture_number(const char *text, unsigned long max, unsigned long *ret);

#endif
