/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rounds of a census, and what differs in each of them. */
#include "cli/hidden.h"

#include <string.h>

const struct cli_hidden_kind cli_hidden_tasks = {
	.many = "processes",
	.numbered = true,
	.ways = { { VP_TASK_LIST, "tasks" },
		  { VP_TASK_PIDS, "pids" },
		  { VP_TASK_TREE, "children" },
		  { CLI_HIDDEN_INSIDE, "proc" } },
};

const struct cli_hidden_kind cli_hidden_modules = {
	.many = "modules",
	.ways = { { VP_MODULE_LIST, "modules" },
		  { VP_MODULE_SYSFS, "sysfs" },
		  { VP_MODULE_ADDRESSES, "addresses" },
		  { CLI_HIDDEN_INSIDE, "proc" } },
};

void cli_hidden_deinit(struct cli_hidden *h)
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

void cli_hidden_round(struct cli_hidden *h, struct vp_census *seen)
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
