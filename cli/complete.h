/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What shells offer at TAB. `outsight --complete WORD...` gets the words behind "outsight", the last of which
 * is the one to complete, and prints what it can become, one a line; nothing where a file name is meant. All
 * comes from where the words are defined: the verbs' table, --help, the options' table, the guests of this
 * host, the guest's list of probes. completions/ has the shells' side, which only asks.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

/* A question, and what has been answered. */
struct cli_completion {
	const char *word;      /* the word to complete, as far as it is there */
	struct ot_map printed; /* each answer is printed once */
	struct ot_arena arena;
};

/** The verb. @p words are those behind "outsight"; the exit status is always 0, as no shell shows errors. */
int cli_complete(int count, char **words);

/* complete_offer.c */
/** Print @p text of @p len bytes if the word can become it. What a shell could take for more than a plain
 * word is never printed: names of guests and their functions are others' to choose. */
void cli_complete_offer(struct cli_completion *c, const char *text, size_t len);

/* complete.c */
/** Run this program with @p argv (NULL behind the last; argv[0] is its name): what it prints on stdout,
 * at most 16 MiB of it, appended to @p out. false: it could not be run, or failed. */
bool cli_complete_ask(const char *const *argv, struct ot_buf *out);

/* complete_options.c */
/** Offer the options that --help has, of @p verb or, NULL, of dtrace's command line. */
void cli_complete_options(struct cli_completion *c, const char *verb);
/** Offer NAME or NAME=VALUE of -x. */
void cli_complete_x(struct cli_completion *c);
/** Offer the documents of --libxo. */
void cli_complete_formats(struct cli_completion *c);

/* complete_probes.c */
/** Offer what a probe description can become. @p letter: which of -P -m -f -n it stands behind. @p guest is
 * -g's, NULL: none was given. The guest's list of probes is kept in the user's cache for ten minutes. */
void cli_complete_probes(struct cli_completion *c, char letter, const char *guest);

#endif
