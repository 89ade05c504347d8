/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The words that shells offer at TAB. `outsight --complete WORD...` gets the words behind "outsight", the
 * last of which is the one to complete, and prints its completions, one a line; nothing where a file name
 * belongs. All words come from their definitions: the verbs' table, --help, the options' table, the guests of
 * this host, the guest's list of probes. completions/ has the shells' side, which only runs this.
 */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/map.h"

/* A request, and its answers so far. */
struct cli_completion {
	const char *word;      /* the beginning of the word to complete */
	struct ot_map printed; /* each answer is printed once */
	struct ot_arena arena;
};

/** The verb. @p words are those behind "outsight"; the exit status is always 0, as no shell shows errors. */
int cli_complete(int count, char **words);

/* complete_offer.c */
/** Print @p text of @p len bytes if it completes the word. Text that a shell could take for more than a plain
 * word is never printed, because others choose the names of guests and their functions. */
void cli_complete_offer(struct cli_completion *c, const char *text, size_t len);

/* complete.c */
/** Run this program with @p argv (NULL behind the last; argv[0] is its name), and append its stdout, at most
 * 16 MiB, to @p out. false: it could not be run, or failed. */
bool cli_complete_ask(const char *const *argv, struct ot_buf *out);

/* complete_options.c */
/** Offer the options that --help has, of @p verb or, NULL, of dtrace's command line. */
void cli_complete_options(struct cli_completion *c, const char *verb);
/** Offer NAME or NAME=VALUE of -x. */
void cli_complete_x(struct cli_completion *c);
/** Offer the documents of --libxo. */
void cli_complete_formats(struct cli_completion *c);

/* complete_probes.c */
/** Offer the completions of a probe description. @p letter: the option of -P -m -f -n that it follows. @p
 * guest is -g's, NULL: none was given. The guest's list of probes is kept in the user's cache for ten
 * minutes. */
void cli_complete_probes(struct cli_completion *c, char letter, const char *guest);

#endif
