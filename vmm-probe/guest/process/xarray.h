/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's xarray (include/linux/xarray.h): a tree that maps numbers to entries. The pages of a file are
 * in one, and so are PIDs.
 */
#ifndef VP_GUEST_PROCESS_XARRAY_H
#define VP_GUEST_PROCESS_XARRAY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/kernel_trees.h"

struct vp_processes;

/* A copy of the node in which an entry was found. Zeros are none. */
struct vp_xarray_leaf {
	uint64_t first, last; /* the indices that it covers; last 0: there is no copy */
	uint8_t shift;        /* log2 of the number of indices that a slot covers */
	uint64_t slots[VP_XARRAY_SLOTS_MAX];
};

/** The entry of @p index in the xarray whose member xa_head is at @p head: an aligned address, or 0 where
 * there is none (a value, as the page cache keeps of a page that was reclaimed, counts as none). An entry
 * that covers several indices is found by each of them. BUSY, FAULT: the tree changes. */
OT_MUST_CHECK struct ot_err *vp_xarray_load(struct vp_processes *ps, uint64_t head, uint64_t index,
					    uint64_t *ret);

/** As vp_xarray_load(), with the address of the slot that has it: while that has the same entry, it is still
 * that of this index. */
OT_MUST_CHECK struct ot_err *vp_xarray_locate(struct vp_processes *ps, uint64_t head, uint64_t index,
					      uint64_t *ret, uint64_t *ret_slot);

/** The first entry at *index or behind it, with *index as its own; *ret 0: there is none. Values are passed
 * over. As far as @p leaf reaches, entries are those that its node had when it was copied, and it becomes the
 * node of the entry. BUSY, FAULT: the tree changes. LIMIT: the caller's budget. */
OT_MUST_CHECK struct ot_err *vp_xarray_next(struct vp_processes *ps, uint64_t head,
					    struct vp_xarray_leaf *leaf, uint64_t *index, uint64_t *ret);

#endif
