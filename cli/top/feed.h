/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A session of its own for a screen of the live view: this program once more, as a child, whose lines are
 * read as they come. A slow or hostile guest can't stop the view, and the view can show the program that is
 * run. */
#ifndef CLI_TOP_FEED_H
#define CLI_TOP_FEED_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct cli_top_feed {
	pid_t pid;          /* 0: none runs */
	int out, err;       /* what it prints; not blocking; -1 */
	struct ot_buf line; /* of stdout, not ended yet */
	struct ot_buf said; /* of stderr, all of it up to a bound */
};

/** The state before the first start. */
void cli_top_feed_init(struct cli_top_feed *f);

/** Run `outsight ARGV…` (argv[0] is the program's name; NULL behind the last). A running child is stopped
 * first. */
OT_MUST_CHECK struct ot_err *cli_top_feed_start(struct cli_top_feed *f, const char *const *argv);

/** Read what it has printed: @p take gets each whole line of stdout, without its newline. False: it has
 * ended, and f->said is its stderr. */
bool cli_top_feed_read(struct cli_top_feed *f, void (*take)(void *arg, const char *line), void *arg);

/** End it as Ctrl-C would, so that it undoes what it did; does not wait for that. */
void cli_top_feed_stop(struct cli_top_feed *f);

/** Wait for all that were stopped, for a few seconds at most. */
void cli_top_feed_wait_all(void);

/** Its last message, without "dtrace: " and without its hint; "": none. */
void cli_top_feed_message(const struct cli_top_feed *f, char *buf, size_t size);

#endif
