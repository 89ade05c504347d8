/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checking a block of inlined copies, which hostile code may have written. */
#include "vmm-probe/dwarf/copies.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct vp_copies_head) == 8 + VP_COPIES_BUILD_ID + 8 * 4, "");
_Static_assert(sizeof(struct vp_copies_place) == 16, "");

static bool within(uint32_t first, uint32_t n, uint32_t count)
{
	return first <= count && n <= count - first;
}

static bool is_string(const struct vp_copies *c, uint32_t string)
{
	return string < c->head->strings_size &&
	       strnlen(c->strings + string, VP_COPIES_STRING_MAX + 1) <= VP_COPIES_STRING_MAX;
}

/* Point into the block; false: its sizes don't add up. */
static bool lay_out(uint8_t *data, size_t len, struct vp_copies *c)
{
	const struct vp_copies_head *h = (void *)data;
	uint64_t places, functions, params, copies, ranges, strings;

	if (len < sizeof(*h) || memcmp(h->magic, VP_COPIES_MAGIC, sizeof(h->magic)) != 0)
		return false;
	/* 32-bit counts of small records: no sum overflows. */
	places = sizeof(*h);
	functions = places + (uint64_t)h->nplaces * sizeof(*c->places);
	params = functions + (uint64_t)h->nfunctions * sizeof(*c->functions);
	copies = params + (uint64_t)h->nparams * sizeof(*c->params);
	ranges = copies + (uint64_t)h->ncopies * sizeof(*c->copies);
	strings = ranges + (uint64_t)h->nranges * sizeof(*c->ranges);
	if (strings + h->strings_size != len || !h->strings_size || data[len - 1] ||
	    h->build_id_len > VP_COPIES_BUILD_ID)
		return false;
	*c = (struct vp_copies){
		.head = h,
		.places = (void *)(data + places),
		.functions = (void *)(data + functions),
		.params = (void *)(data + params),
		.copies = (void *)(data + copies),
		.ranges = (void *)(data + ranges),
		.strings = (char *)data + strings,
	};
	return true;
}

static bool is_place(const struct vp_copies_place *p)
{
	return p->kind < VP_PLACE_KINDS &&
	       (p->kind != VP_PLACE_MEMORY || p->size == 1 || p->size == 2 || p->size == 4 || p->size == 8);
}

static bool check_copy(const struct vp_copies *c, const struct vp_copies_copy *copy, uint32_t nparams)
{
	if (!within(copy->first_place, nparams, c->head->nplaces) || copy->nranges > VP_COPIES_RANGES ||
	    !within(copy->first_range, copy->nranges, c->head->nranges))
		return false;
	for (uint32_t i = 0; i < nparams; i++)
		if (!is_place(&c->places[copy->first_place + i]))
			return false;
	for (uint32_t i = 0; i < copy->nranges; i++)
		if (c->ranges[copy->first_range + i].start >= c->ranges[copy->first_range + i].end)
			return false;
	return true;
}

/* Parameters and copies follow each other as the functions do: so a block of any size is checked in one pass.
 */
static bool check_function(const struct vp_copies *c, const struct vp_copies_function *f,
			   const struct vp_copies_function *before)
{
	uint32_t first_param = before ? before->first_param + before->nparams : 0;
	uint32_t first_copy = before ? before->first_copy + before->ncopies : 0;

	if (!is_string(c, f->name) || !c->strings[f->name] || f->nparams > VP_COPIES_PARAMS || !f->ncopies ||
	    f->first_param != first_param || !within(first_param, f->nparams, c->head->nparams) ||
	    f->first_copy != first_copy || !within(first_copy, f->ncopies, c->head->ncopies))
		return false;
	if (before && strcmp(c->strings + before->name, c->strings + f->name) > 0)
		return false;
	for (uint32_t i = 0; i < f->ncopies; i++) {
		const struct vp_copies_copy *copy = &c->copies[first_copy + i];

		if (!check_copy(c, copy, f->nparams) || (i && copy[-1].entry > copy->entry))
			return false;
	}
	return true;
}

static bool check(const struct vp_copies *c)
{
	for (uint32_t i = 0; i < c->head->nparams; i++)
		if (!is_string(c, c->params[i].name) || !is_string(c, c->params[i].type))
			return false;
	for (uint32_t i = 0; i < c->head->nfunctions; i++)
		if (!check_function(c, &c->functions[i], i ? &c->functions[i - 1] : NULL))
			return false;
	return true;
}

struct ot_err *vp_copies_open(void *data, size_t len, struct vp_copies *ret)
{
	struct vp_copies c;

	if (!lay_out(data, len, &c) || !check(&c))
		return ot_err_new(OT_ERR_BAD_DATA, "the list of inlined functions is broken");
	c.data = data;
	*ret = c;
	return NULL;
}

void vp_copies_deinit(struct vp_copies *copies)
{
	free(copies->data);
	memset(copies, 0, sizeof(*copies));
}
