/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of patches, perhaps another process's: sorting it, and undoing the patches in bytes that were read.
 */
#include "vmm-probe/engine/wire/patches.h"
#include "base/search.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int by_gva(const void *a, const void *b)
{
	const struct vp_patch *x = a, *y = b;

	return x->gva < y->gva ? -1 : x->gva > y->gva;
}

static bool can_be(const struct vp_patch *p)
{
	return p->len && p->len <= sizeof(p->was) && p->gva <= UINT64_MAX - p->len;
}

void vp_patches_sort(struct vp_patches *patches)
{
	struct vp_patch *list = patches->list;
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < patches->n; i++)
		if (can_be(&list[i]))
			list[n++] = list[i];
	if (n)
		qsort(list, n, sizeof(*list), by_gva);
	/* Binary search needs patches that do not overlap. */
	for (uint32_t i = 0; i < n; i++)
		if (!kept || list[i].gva >= list[kept - 1].gva + list[kept - 1].len)
			list[kept++] = list[i];
	patches->n = kept;
}

/* The first patch that ends after @gva. */
static uint32_t first_behind(const struct vp_patches *patches, uint64_t gva)
{
	const struct vp_patch *list = patches->list;

	return (uint32_t)OT_COUNT_BEFORE(patches->n, i, list[i].gva + list[i].len <= gva);
}

void vp_patches_undo(const struct vp_patches *patches, uint64_t gva, uint8_t *bytes, uint64_t len)
{
	for (uint32_t i = first_behind(patches, gva); i < patches->n; i++) {
		const struct vp_patch *p = &patches->list[i];
		if (p->gva >= gva + len)
			return;
		uint64_t skip = p->gva < gva ? gva - p->gva : 0, at = p->gva + skip - gva;
		uint64_t n = p->len - skip < len - at ? p->len - skip : len - at;
		if (!memcmp(bytes + at, p->there + skip, n))
			memcpy(bytes + at, p->was + skip, n);
	}
}
