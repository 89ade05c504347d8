/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Persistent differences between several censuses of a guest. Processes and modules come and go while they
 * are read, so a census is repeated in rounds, and only what is missing from the same lists in each round
 * counts. No session here, so that tests can feed it.
 */
#ifndef CLI_HIDDEN_H
#define CLI_HIDDEN_H

#include <stdbool.h>

#include "vmm-probe/guest/census.h"

#define CLI_HIDDEN_ROUNDS 4

/* The guest's own view, in addition to the ways of vmm-probe/guest/census.h. */
#define CLI_HIDDEN_INSIDE 0x100u

/* A kind of things, and the ways in which they are seen. */
struct cli_hidden_kind {
	const char *many; /* "processes" */
	bool numbered;    /* they have a number: "pid" */
	struct {
		uint32_t way;
		const char *name; /* of its column, and in JSON */
	} ways[4];
};

extern const struct cli_hidden_kind cli_hidden_tasks, cli_hidden_modules;

struct cli_hidden {
	struct vp_census differing; /* in every round so far */
	unsigned rounds;
};

void cli_hidden_deinit(struct cli_hidden *h);

/** One round: all that was seen in it, joined; taken over (@p seen is empty then). */
void cli_hidden_round(struct cli_hidden *h, struct vp_census *seen);

/** Are no more rounds needed? One is enough when nothing differs. */
static inline bool cli_hidden_done(const struct cli_hidden *h)
{
	return h->rounds && (!h->differing.count || h->rounds >= CLI_HIDDEN_ROUNDS);
}

#endif
