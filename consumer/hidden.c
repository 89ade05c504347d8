/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rounds of a census, and the differences in each of them. */
#include "consumer/hidden.h"

#include <stdlib.h>
#include <string.h>

void con_hidden_deinit(struct con_hidden *h)
{
	vp_census_deinit(&h->differing);
}

static int order(const struct vp_found *a, const struct vp_found *b)
{
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return a->id ? 0 : strcmp(a->name, b->name);
}

/* The same thing, missed in the same ways? A number may be another process's meanwhile. */
static bool is_same(const struct vp_found *a, const struct vp_found *b)
{
	return !order(a, b) && a->ways == b->ways &&
	       (!a->since_ns || !b->since_ns || a->since_ns == b->since_ns);
}

void con_hidden_round(struct con_hidden *h, struct vp_census *seen)
{
	const struct vp_found *before = h->differing.items, *end = before + h->differing.count;
	size_t n = 0;

	for (size_t i = 0; i < seen->count; i++) {
		const struct vp_found *now = &seen->items[i];

		while (h->rounds && before < end && order(before, now) < 0)
			before++;
		if (now->ways == seen->ways || (h->rounds && (before == end || !is_same(before, now))))
			continue;
		seen->items[n++] = *now;
	}
	seen->count = n;
	vp_census_deinit(&h->differing);
	h->differing = *seen;
	memset(seen, 0, sizeof(*seen));
	h->rounds++;
}

/* Both are sorted: a round's items are joined. */
struct ot_err *con_hidden_beyond(const struct con_hidden *a, const struct con_hidden *b,
				 struct con_hidden *ret)
{
	const struct vp_found *other = b->differing.items, *end = other + b->differing.count;
	struct con_hidden h = { .rounds = a->rounds };

	h.differing.items = calloc(a->differing.count + 1, sizeof(*h.differing.items));
	if (!h.differing.items)
		return ot_err_nomem();
	h.differing.cap = a->differing.count + 1;
	h.differing.ways = a->differing.ways;
	for (size_t i = 0; i < a->differing.count; i++) {
		const struct vp_found *f = &a->differing.items[i];

		while (other < end && order(other, f) < 0)
			other++;
		if (other == end || !is_same(other, f))
			h.differing.items[h.differing.count++] = *f;
	}
	*ret = h;
	return NULL;
}
