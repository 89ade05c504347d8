/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hidden.h"

#include <string.h>

#include "base/json.h"
#include "cli/terminal.h"

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

/* --- output ------------------------------------------------------------------------------------------- */

static void print_row(const struct cli_hidden_kind *kind, const struct vp_found *f, uint32_t ways, FILE *fp)
{
	char name[VP_FOUND_NAME];

	memcpy(name, f->name, sizeof(name));
	cli_name_tame(name);
	if (kind->numbered)
		fprintf(fp, "%8llu  ", (unsigned long long)f->id);
	fprintf(fp, "%-24s", name);
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (ways & kind->ways[i].way)
			fprintf(fp, " %9s", f->ways & kind->ways[i].way ? "seen" : "-");
	putc('\n', fp);
}

void cli_hidden_print(const struct cli_hidden_kind *kind, const struct cli_hidden *h, uint32_t ways, FILE *fp)
{
	if (!h->differing.count) {
		fprintf(fp, "nothing hidden: all %s are seen in every way\n", kind->many);
		return;
	}
	if (kind->numbered)
		fprintf(fp, "%8s  ", "PID");
	fprintf(fp, "%-24s", "NAME");
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (ways & kind->ways[i].way)
			fprintf(fp, " %9s", kind->ways[i].name);
	putc('\n', fp);
	for (size_t i = 0; i < h->differing.count; i++)
		print_row(kind, &h->differing.items[i], ways, fp);
}

static void json_ways(const struct cli_hidden_kind *kind, uint32_t which, struct ot_json *j)
{
	ot_json_array(j, OT_JSON_INLINE);
	for (size_t i = 0; i < OT_ARRAY_SIZE(kind->ways); i++)
		if (which & kind->ways[i].way)
			ot_json_string(j, kind->ways[i].name);
	ot_json_end(j);
}

static void json_item(const struct cli_hidden_kind *kind, const struct vp_found *f, uint32_t ways,
		      struct ot_json *j)
{
	ot_json_object(j, OT_JSON_INLINE);
	if (kind->numbered) {
		ot_json_key(j, "pid");
		ot_json_uint(j, f->id);
	}
	ot_json_key(j, "name");
	ot_json_string(j, f->name);
	ot_json_key(j, "seen");
	json_ways(kind, f->ways, j);
	ot_json_key(j, "missing");
	json_ways(kind, ways & ~f->ways, j);
	ot_json_key(j, "outside");
	ot_json_bool(j, f->ways & ~CLI_HIDDEN_INSIDE);
	ot_json_key(j, "inside");
	ot_json_bool(j, f->ways & CLI_HIDDEN_INSIDE);
	ot_json_end(j);
}

struct ot_err *cli_hidden_json(const struct cli_hidden_kind *kind, const struct cli_hidden *h, uint32_t ways,
			       FILE *fp)
{
	struct ot_json j;

	ot_json_init(&j, fp);
	ot_json_array(&j, OT_JSON_LINES);
	for (size_t i = 0; i < h->differing.count; i++)
		json_item(kind, &h->differing.items[i], ways, &j);
	ot_json_end(&j);
	return ot_json_finish(&j);
}
