/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two lines in the system's log for each session, before it touches its guests and at its end: user, guests,
 * program, duration; and one before anything else that changes a VMM or reads much of a guest. By syslog(3),
 * which journald and every other logger accept: no further library is needed, and a system without a log is
 * unaffected. Untrusted text (names, programs) can't forge lines or fields.
 */
#ifndef CONSUMER_JOURNAL_H
#define CONSUMER_JOURNAL_H

#include "base/buf.h"
#include "consumer/texts.h"

#define CON_JOURNAL_TEXT 200 /* bytes of a program that are kept */

struct con_journal {
	struct ot_buf who; /* user, login, guests: the beginning of both lines; empty: nothing was logged */
	uint64_t start_ns; /* CLOCK_MONOTONIC */
};

/* Who traces. */
struct con_journal_user {
	uint32_t uid;
	const char *name;  /* NULL: the uid has none */
	const char *login; /* who logged in, unchanged by su and sudo (audit's login uid); NULL: unknown */
};

/** `user=alice uid=1000 login=alice guests="web01,db"`; @p guests as -g has them, borrowed. */
void con_journal_who(struct ot_buf *out, const struct con_journal_user *user,
		     const struct con_strings *guests);
/** `probes=12 destructive=no program="…"`, a script by its path. */
void con_journal_what(struct ot_buf *out, const struct con_texts *texts, uint64_t probes);

/** The two lines. Without memory or a log they are left out: no session fails for that. */
void con_journal_start(struct con_journal *journal, const struct con_texts *texts,
		       const struct con_strings *guests, uint64_t probes);
void con_journal_end(struct con_journal *journal, int status);

/** One line: `@what: user=alice …`; @p what is of this program: "attaching", "detaching". Before the action:
 * an attempt is on record even if it fails. */
void con_journal_note(const char *what, const struct con_strings *guests);
/** The same of one guest. */
void con_journal_note_one(const char *what, const char *guest);

#endif
