/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent differences between several censuses of a guest. Processes and modules come and go while they
 * are read, so a census is repeated in rounds, and only what is missing from the same lists in each round
 * counts. No session here, so that tests can feed it.
 */
#ifndef CONSUMER_HIDDEN_H
#define CONSUMER_HIDDEN_H

#include <stdbool.h>

#include "vmm-probe/guest/census.h"

struct ot_buf;

#define CON_HIDDEN_ROUNDS 4

/* The guest's own view, in addition to the ways of vmm-probe/guest/census.h: by its agent, or by a text. */
#define CON_HIDDEN_INSIDE 0x100u
#define CON_HIDDEN_TEXT   0x200u
#define CON_HIDDEN_OWN    (CON_HIDDEN_INSIDE | CON_HIDDEN_TEXT)

/* A kind of objects, and the ways in which they are seen. */
struct con_hidden_kind {
	const char *many; /* "processes" */
	bool numbered;    /* they have a number: "pid" */
	struct con_hidden_way {
		uint32_t way;
		const char *name;    /* of its column, and in JSON */
		const char *without; /* the meaning of being missing there */
	} ways[5];                   /* way 0: none */
};

extern const struct con_hidden_kind con_hidden_tasks, con_hidden_modules, con_hidden_sockets,
    con_hidden_mounts, con_hidden_libraries;

/* The scope of a table: all differences, or the changes since the last comparison. */
enum con_hidden_change { CON_HIDDEN_IS, CON_HIDDEN_NEW, CON_HIDDEN_GONE };

struct con_hidden {
	struct vp_census differing; /* in every round so far */
	unsigned rounds;
	enum con_hidden_change change;
	uint64_t time_ns; /* of a change, since 1970 */
};

void con_hidden_deinit(struct con_hidden *h);

/** One round: all of its items, joined; taken over (@p seen is empty then). */
void con_hidden_round(struct con_hidden *h, struct vp_census *seen);

/** Are no more rounds needed? One is enough when nothing differs. */
static inline bool con_hidden_done(const struct con_hidden *h)
{
	return h->rounds && (!h->differing.count || h->rounds >= CON_HIDDEN_ROUNDS);
}

/** The differences of @p a that @p b lacks, or has in other ways; both are results. *ret borrows the names of
 * @p a. */
OT_MUST_CHECK struct ot_err *con_hidden_beyond(const struct con_hidden *a, const struct con_hidden *b,
					       struct con_hidden *ret);

/** Append one line: the meaning of @p f being seen in its ways, and not in all of @p ways. */
void con_hidden_meaning(const struct con_hidden_kind *kind, const struct vp_found *f, uint32_t ways,
			struct ot_buf *out);

#endif
