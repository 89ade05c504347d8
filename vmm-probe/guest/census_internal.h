/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of census*.c share. */
#ifndef VP_GUEST_CENSUS_INTERNAL_H
#define VP_GUEST_CENSUS_INTERNAL_H

#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/census.h"

/* A way: its name for messages, and its walk. BUSY and FAULT: it met a change, and is tried again. */
struct vp_way {
	uint32_t way;
	const char *what;
	struct ot_err *(*walk)(void *ctx, struct vp_census *census);
};

/** Go each of the ways that is in @p have, and join what they found. */
OT_MUST_CHECK struct ot_err *vp_census_walk(const struct vp_way *ways, size_t n, uint32_t have, void *ctx,
					    struct vp_census *ret);

/** "it changed while it was read". */
OT_MUST_CHECK struct ot_err *vp_census_torn(void);

/** Each node of a struct list_head at @p head, its links checked both ways; at most @p max. */
OT_MUST_CHECK struct ot_err *vp_census_list(struct vp_guest *guest, uint64_t head, size_t max,
					    struct ot_err *(*each)(void *ctx, uint64_t node), void *ctx);

struct vp_member {
	const char *type, *path;
	uint32_t *offset;
};

/** Where members are; false when one of them is not. */
bool vp_census_members(const struct vp_btf *btf, const struct vp_member *members, size_t n);

#endif
