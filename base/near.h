/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": of the words that exist, the one that a mistyped word is closest to. Offer them all,
 * then ask.
 *
 *	struct ot_near near;
 *	ot_near_init(&near, typed);
 *	for (…)
 *		ot_near_offer(&near, existing[i]);
 *	if (ot_near_best(&near)) …
 */
#ifndef OT_BASE_NEAR_H
#define OT_BASE_NEAR_H

#include <stddef.h>

/* Longer words match nothing, which bounds the cost of a comparison. */
#define OT_NEAR_MAX 128

struct ot_near {
	const char *word; /* what was typed */
	size_t len;
	const char *best;  /* so far; NULL: none */
	unsigned distance; /* of best; or one more than the most that is accepted */
};

/** How many letters must be changed, added, left out or exchanged with their neighbour to make @p b of @p a,
 * whose lengths are @p alen and @p blen bytes. Upper and lower case are the same. More than @p limit is limit
 * + 1, and so is anything of more than OT_NEAR_MAX bytes. */
unsigned ot_near_distance(const char *a, size_t alen, const char *b, size_t blen, unsigned limit);

/** Begin with @p word, which is borrowed, as are the words that are offered. Of a word of one or two letters
 * only the case may be wrong; up to five letters one may be wrong, up to eleven two, in longer ones three. */
void ot_near_init(struct ot_near *near, const char *word);

/** A word that exists. Of several that are equally near the first offered wins. */
void ot_near_offer(struct ot_near *near, const char *candidate);

/** The nearest of the words offered; NULL: none is near enough. */
const char *ot_near_best(const struct ot_near *near);

#endif
