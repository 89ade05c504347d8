/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "Did you mean": the candidate with the smallest edit distance. */
#include "base/near.h"

#include <stdbool.h>
#include <string.h>

static unsigned char fold(char c)
{
	return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned apart(size_t a, size_t b)
{
	return (unsigned)(a > b ? a - b : b - a);
}

/* Three rows of the table of prefixes are enough: a neighbour that was exchanged is two rows back. */
unsigned ot_near_distance(const char *a, size_t alen, const char *b, size_t blen, unsigned limit)
{
	unsigned rows[3][OT_NEAR_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	if (alen > OT_NEAR_MAX || blen > OT_NEAR_MAX || apart(alen, blen) > limit)
		return limit + 1;
	for (size_t j = 0; j <= blen; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= alen; i++) {
		unsigned lowest = row[0] = (unsigned)i;
		for (size_t j = 1; j <= blen; j++) {
			bool same = fold(a[i - 1]) == fold(b[j - 1]);
			row[j] = least(last[j - 1] + !same, least(last[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && fold(a[i - 1]) == fold(b[j - 2]) &&
			    fold(a[i - 2]) == fold(b[j - 1]))
				row[j] = least(row[j], before[j - 2] + 1);
			lowest = least(lowest, row[j]);
		}
		if (lowest > limit) /* it only grows from here */
			return limit + 1;
		unsigned *free_row = before;
		before = last;
		last = row;
		row = free_row;
	}
	return least(last[blen], limit + 1);
}

void ot_near_init(struct ot_near *near, const char *word)
{
	size_t len = strnlen(word, OT_NEAR_MAX + 1);
	unsigned most = len < 3 ? 0 : len < 6 ? 1 : len < 12 ? 2 : 3;

	*near = (struct ot_near){ .word = word, .len = len, .distance = most + 1 };
}

void ot_near_offer(struct ot_near *near, const char *candidate)
{
	if (!near->distance)
		return;
	unsigned d = ot_near_distance(near->word, near->len, candidate, strnlen(candidate, OT_NEAR_MAX + 1),
				      near->distance - 1);
	if (d >= near->distance)
		return;
	near->best = candidate;
	near->distance = d;
}

const char *ot_near_best(const struct ot_near *near)
{
	return near->best;
}
