/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making a block of inlined copies. */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/dwarf/reader_internal.h"

void vp_block_init(struct vp_block_maker *m)
{
	memset(m, 0, sizeof(*m));
	memcpy(m->head.magic, VP_COPIES_MAGIC, sizeof(m->head.magic));
	ot_map_init(&m->interned);
	ot_buf_putc(&m->strings, '\0');
}

/* Append @len bytes unless they are there already: where they are. A key's last byte keeps the tables apart.
 */
static uint32_t intern(struct vp_block_maker *m, struct ot_buf *table, const void *bytes, size_t len,
		       char kind)
{
	char key[VP_COPIES_PARAMS * sizeof(struct vp_copies_place) + VP_COPIES_STRING_MAX + 2];
	uintptr_t at;

	memcpy(key, bytes, len);
	key[len] = kind;
	at = (uintptr_t)ot_map_get(&m->interned, key, len + 1);
	if (!at) {
		at = table->len + 1;
		ot_buf_append(table, bytes, len);
		if (!ot_map_put(&m->interned, key, len + 1, (void *)at))
			table->failed = true;
	}
	return (uint32_t)(at - 1);
}

uint32_t vp_block_string(struct vp_block_maker *m, const char *s)
{
	return *s ? intern(m, &m->strings, s, strlen(s) + 1, 's') : 0;
}

uint32_t vp_block_places(struct vp_block_maker *m, const struct vp_copies_place *places, uint32_t n)
{
	return n ? intern(m, &m->places, places, n * sizeof(*places), 'p') / (uint32_t)sizeof(*places) : 0;
}

/* --- ordering --------------------------------------------------------------------------------------------- */

/* A copy and its sort key. */
struct entry {
	const char *name; /* of its function */
	uint32_t function;
	struct vp_copies_copy copy;
};

static int compare(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int by_name = strcmp(x->name, y->name);

	if (by_name)
		return by_name;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	return (x->copy.entry > y->copy.entry) - (x->copy.entry < y->copy.entry);
}

static struct entry *sorted(const struct vp_block_maker *m, size_t n)
{
	const struct vp_copies_function *functions = (void *)m->functions.data;
	const struct vp_copies_copy *copies = (void *)m->copies.data;
	const uint32_t *owners = (void *)m->owners.data;
	struct entry *list = calloc(n + 1, sizeof(*list));

	if (!list)
		return NULL;
	for (size_t i = 0; i < n; i++)
		list[i] = (struct entry){ m->strings.data + functions[owners[i]].name, owners[i], copies[i] };
	qsort(list, n, sizeof(*list), compare);
	return list;
}

/* Append the functions that have copies, in their order, with their parameters and copies. */
static void append_functions(const struct vp_block_maker *m, const struct entry *list, size_t n,
			     struct ot_buf *functions, struct ot_buf *params, struct ot_buf *copies)
{
	for (size_t i = 0, end; i < n; i = end) {
		struct vp_copies_function f =
		    ((const struct vp_copies_function *)(void *)m->functions.data)[list[i].function];
		size_t param_size = sizeof(struct vp_copies_param);

		for (end = i; end < n && list[end].function == list[i].function; end++)
			ot_buf_append(copies, &list[end].copy, sizeof(list[end].copy));
		if (f.nparams)
			ot_buf_append(params, m->params.data + f.first_param * param_size,
				      f.nparams * param_size);
		f.first_param = (uint32_t)(params->len / param_size) - f.nparams;
		f.first_copy = (uint32_t)i;
		f.ncopies = (uint32_t)(end - i);
		ot_buf_append(functions, &f, sizeof(f));
	}
}

static void append(struct ot_buf *ret, const struct ot_buf *part)
{
	if (part->failed)
		ret->failed = true;
	else if (part->len)
		ot_buf_append(ret, part->data, part->len);
}

struct ot_err *vp_block_finish(struct vp_block_maker *m, struct ot_buf *ret)
{
	size_t n = m->copies.len / sizeof(struct vp_copies_copy);
	struct vp_copies_head h = m->head;
	struct ot_buf functions, params, copies;
	struct entry *list = sorted(m, n);

	if (!list || m->functions.failed || m->copies.failed || m->owners.failed || m->strings.failed)
		return ot_err_nomem();
	ot_buf_init(&functions);
	ot_buf_init(&params);
	ot_buf_init(&copies);
	append_functions(m, list, n, &functions, &params, &copies);
	h.nplaces = (uint32_t)(m->places.len / sizeof(struct vp_copies_place));
	h.nfunctions = (uint32_t)(functions.len / sizeof(struct vp_copies_function));
	h.nparams = (uint32_t)(params.len / sizeof(struct vp_copies_param));
	h.ncopies = (uint32_t)n;
	h.nranges = (uint32_t)(m->ranges.len / sizeof(struct vp_copies_range));
	h.strings_size = (uint32_t)m->strings.len;
	ot_buf_append(ret, &h, sizeof(h));
	append(ret, &m->places);
	append(ret, &functions);
	append(ret, &params);
	append(ret, &copies);
	append(ret, &m->ranges);
	append(ret, &m->strings);
	free(list);
	ot_buf_deinit(&functions);
	ot_buf_deinit(&params);
	ot_buf_deinit(&copies);
	return ret->failed ? ot_err_nomem() : NULL;
}
