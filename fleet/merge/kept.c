/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts' PROGRAMs. Hosts with the same kernel have the same one, which is kept once. */
#include <string.h>

#include "fleet/merge/internal.h"

void fl_keeping_init(struct fl_keeping *k)
{
	*k = (struct fl_keeping){ 0 };
	ot_map_init(&k->programs);
	ot_arena_init(&k->arena);
}

void fl_keeping_deinit(struct fl_keeping *k)
{
	ot_map_deinit(&k->programs);
	ot_arena_deinit(&k->arena);
}

struct ot_err *fl_keeping_put(struct fl_keeping *k, const void *data, size_t len, struct fl_kept **ret)
{
	uint8_t digest[FL_DIGEST];

	fl_digest(data, len, digest);
	*ret = ot_map_get(&k->programs, digest, sizeof(digest));
	if (*ret)
		return NULL;
	if (len > FL_MERGE_PROGRAMS - k->bytes)
		return ot_err_new(OT_ERR_LIMIT, "the hosts of this merger have too many different programs");
	struct fl_kept *kept = ot_arena_new(&k->arena, struct fl_kept);
	uint8_t *copy = ot_arena_alloc(&k->arena, len + 1);

	if (!kept || !copy)
		return ot_err_nomem();
	memcpy(copy, data, len);
	*kept = (struct fl_kept){ .data = copy, .len = len };
	memcpy(kept->digest, digest, sizeof(digest));
	if (!ot_map_put(&k->programs, digest, sizeof(digest), kept))
		return ot_err_nomem();
	k->bytes += len;
	*ret = kept;
	return NULL;
}
