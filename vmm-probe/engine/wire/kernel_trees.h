/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The formats of two trees of Linux, for readers in a hit and in the operator's process: the xarray
 * (include/linux/xarray.h), which maps numbers to entries, and the maple tree (include/linux/maple_tree.h),
 * which maps ranges of numbers. Offsets and lengths come from a kernel's types; these constants are macros
 * there.
 */
#ifndef VP_ENGINE_WIRE_KERNEL_TREES_H
#define VP_ENGINE_WIRE_KERNEL_TREES_H

#include <stdbool.h>
#include <stdint.h>

/* Both: the entry in an xarray's head and slots, and in a maple tree's root. */
#define VP_ENTRY_TAG       3u /* low bits: 0 an address, 2 internal, else a value */
#define VP_ENTRY_INTERNAL  2u
#define VP_ENTRY_NOT_NODES 4096u /* internal entries above are nodes */

static inline bool vp_entry_is_internal(uint64_t entry)
{
	return (entry & VP_ENTRY_TAG) == VP_ENTRY_INTERNAL;
}

static inline bool vp_entry_is_node(uint64_t entry)
{
	return vp_entry_is_internal(entry) && entry > VP_ENTRY_NOT_NODES;
}

/* xarray */
#define VP_XARRAY_SIBLING_END 256u /* internal entries below name the slot that they belong to */
#define VP_XARRAY_SHIFT_MAX   60u
#define VP_XARRAY_SLOTS_MAX   64u /* of a node */

/* Maple tree: a pointer to a node has the node's type in it. Slot i of a node covers the numbers after pivot
 * i - 1 up to pivot i; the last slot, and the first one behind slot 0 whose pivot is 0, end where the node
 * does. */
#define VP_MAPLE_NODE_MASK  0xffull
#define VP_MAPLE_TYPE_SHIFT 3u
#define VP_MAPLE_TYPE_MASK  0xfull
#define VP_MAPLE_DEPTH_MAX  8u  /* of the kernel's own trees: 16^8 mappings */
#define VP_MAPLE_PIVOTS_MAX 32u /* of a node, slots too */

/* A node of one type. */
struct vp_maple_shape {
	uint32_t pivot, slot;   /* offsets of the arrays … */
	uint32_t pivots, slots; /* … and their lengths; 0: the kernel has no maple trees */
};

#endif
