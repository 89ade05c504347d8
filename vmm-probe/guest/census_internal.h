/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by census*.c. */
#ifndef VP_GUEST_CENSUS_INTERNAL_H
#define VP_GUEST_CENSUS_INTERNAL_H

#include "base/buf.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/census.h"
#include "vmm-probe/guest/readings.h"

/* A way: its name for messages, and its walk. After BUSY and FAULT (a change during the walk) it is
 * repeated. */
struct vp_way {
	uint32_t way;
	const char *what;
	struct ot_err *(*walk)(void *ctx, struct vp_census *census);
};

/** Walk each of the ways in @p have, and join the results, within @p reading's budget for @p guest. */
OT_MUST_CHECK struct ot_err *vp_census_walk(const struct vp_guest *guest, const struct vp_reading *reading,
					    const struct vp_way *ways, size_t n, uint32_t have, void *ctx,
					    struct vp_census *ret);

/** BUSY: "it changed while it was read". */
OT_MUST_CHECK struct ot_err *vp_census_torn(void);

/** BAD_DATA: "it does not end". */
OT_MUST_CHECK struct ot_err *vp_census_endless(void);

/** Call @p each for each node of the struct list_head at @p head, checking links in both directions.
 * BAD_DATA: more than @p max nodes. */
OT_MUST_CHECK struct ot_err *vp_census_list(struct vp_guest *guest, uint64_t head, size_t max,
					    struct ot_err *(*each)(void *ctx, uint64_t node), void *ctx);

struct vp_member {
	const char *type, *path;
	uint32_t *offset;
};

/** Fill in the offsets of all members; false: one of them does not exist. */
bool vp_census_members(const struct vp_btf *btf, const struct vp_member *members, size_t n);

/* Offsets in struct rb_node. */
struct vp_rb_layout {
	uint32_t left, right, parent;
};

bool vp_census_rb_layout(const struct vp_btf *btf, struct vp_rb_layout *ret);

/** Call @p each for each struct rb_node from the root @p node down (0: there is none), checking that each
 * names its parent. @p todo is memory for it. BAD_DATA: more than VP_FOUND_MAX nodes. */
OT_MUST_CHECK struct ot_err *vp_census_rb(struct vp_guest *guest, const struct vp_rb_layout *l, uint64_t node,
					  struct ot_buf *todo,
					  struct ot_err *(*each)(void *ctx, uint64_t node), void *ctx);

#endif
