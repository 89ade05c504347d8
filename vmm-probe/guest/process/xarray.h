/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's xarray (include/linux/xarray.h): a tree that maps numbers to entries. The pages of a file are
 * in one, and so are PIDs.
 */
#ifndef VP_GUEST_PROCESS_XARRAY_H
#define VP_GUEST_PROCESS_XARRAY_H

#include <stdint.h>

#include "base/err.h"

struct vp_processes;

/** The entry of @p index in the xarray whose member xa_head is at @p head: an aligned address, or 0 where
 * there is none (a value, as the page cache keeps of a page that was reclaimed, counts as none). An entry
 * that covers several indices is found by each of them. BUSY, FAULT: the tree changes. */
OT_MUST_CHECK struct ot_err *vp_xarray_load(struct vp_processes *ps, uint64_t head, uint64_t index,
					    uint64_t *ret);

/** The first entry at *index or behind it, with *index as its own; *ret 0: there is none. Values are passed
 * over. BUSY, FAULT: the tree changes. LIMIT: the caller's budget. */
OT_MUST_CHECK struct ot_err *vp_xarray_next(struct vp_processes *ps, uint64_t head, uint64_t *index,
					    uint64_t *ret);

#endif
