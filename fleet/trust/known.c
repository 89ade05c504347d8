/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An operator's file of hosts and their keys. */
#include "fleet/trust/known.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

static struct ot_err *take(const struct fl_lines *lines, struct fl_known_host *ret)
{
	if (lines->nwords != 2)
		return fl_lines_error(lines, "a line is a host's name and its key");
	if (!fl_name_is_valid(lines->words[0]))
		return fl_lines_error(lines,
				      "%s is not a host's name: letters, digits, '-' and '_', at most %d",
				      lines->words[0], FL_NAME_MAX);
	if (!fl_public_parse(lines->words[1], ret->key))
		return fl_lines_error(lines, "%s is not a public key, as outsight-serve --show-key prints it",
				      lines->words[1]);
	ret->name = lines->words[0];
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A name's key must not depend on the order of lines. */
static struct ot_err *check_names(const struct fl_lines *lines, const struct fl_known *known)
{
	const char **names = calloc(known->count + 1, sizeof(*names));
	struct ot_err *err = NULL;

	if (!names)
		return ot_err_nomem();
	for (size_t i = 0; i < known->count; i++)
		names[i] = known->items[i].name;
	qsort(names, known->count, sizeof(*names), by_name);
	for (size_t i = 1; i < known->count && !err; i++)
		if (!strcmp(names[i - 1], names[i]))
			err = ot_err_new(OT_ERR_SYNTAX, "%s: %s has two lines", lines->path, names[i]);
	free(names);
	return err;
}

static struct ot_err *read_all(struct fl_lines *lines, struct fl_known_host **items, size_t *count)
{
	size_t cap = 0;

	for (;;) {
		OT_TRY(fl_lines_next(lines));
		if (!lines->nwords)
			return NULL;
		if (*count == FL_KNOWN_MAX)
			return fl_lines_error(lines, "more than %u hosts", FL_KNOWN_MAX);
		if (!ot_grow(items, &cap, *count + 1, sizeof(**items)))
			return ot_err_nomem();
		OT_TRY(take(lines, &(*items)[*count]));
		++*count;
	}
}

struct ot_err *fl_known_read(const char *path, struct ot_arena *arena, struct fl_known *ret)
{
	struct fl_known_host *items = NULL;
	struct fl_known known = { 0 };
	struct fl_lines lines;

	OT_TRY(fl_lines_open(path, arena, &lines));
	struct ot_err *err = read_all(&lines, &items, &known.count);

	if (!err) {
		known.items = ot_arena_alloc(arena, (known.count + 1) * sizeof(*items));
		if (!known.items)
			err = ot_err_nomem();
		else if (known.count)
			memcpy(known.items, items, known.count * sizeof(*items));
	}
	free(items);
	if (!err)
		err = check_names(&lines, &known);
	if (!err)
		*ret = known;
	return err;
}
