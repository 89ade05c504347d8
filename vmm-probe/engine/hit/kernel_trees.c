/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks down from the root, one node at a time. */
#include "vmm-probe/engine/hit/kernel_trees.h"
#include "vmm-probe/engine/hit/walk.h"

/* More than twice the logarithm of the maximum number of mappings. */
#define RB_DEPTH_MAX 64

/* --- xarray -------------------------------------------------------------------------------- */

/* The entry in the slot of @index; a sibling entry refers to another slot. */
static bool load_slot(struct vp_vcpu_session *v, uint64_t node, uint8_t shift, uint64_t index, uint64_t *ret)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t slots = node + f->xa_slots, slot = index >> shift & (f->xa_nslots - 1), named;

	if (!vp_load_u64(v, slots + 8 * slot, ret))
		return false;
	if (!vp_entry_is_internal(*ret) || *ret >= VP_XARRAY_SIBLING_END)
		return true;
	named = *ret >> 2;
	return named < slot && vp_load_u64(v, slots + 8 * named, ret) && !vp_entry_is_internal(*ret);
}

/* Each step goes to a node whose shift is smaller. */
bool vp_xarray_find(struct vp_vcpu_session *v, uint64_t head, uint64_t index, uint64_t *ret)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint8_t shift, above = VP_XARRAY_SHIFT_MAX + 1;

	/* An entry in the head itself is that of index 0. */
	if (!vp_load_u64(v, head, ret) || (!vp_entry_is_internal(*ret) && index))
		return false;
	while (vp_entry_is_node(*ret)) {
		uint64_t node = *ret - VP_ENTRY_INTERNAL;

		if (!vp_load_kernel(v, node + f->xa_shift, &shift, 1) || shift >= above)
			return false;
		/* the tree is not that large */
		if (above > VP_XARRAY_SHIFT_MAX && index >> shift >= f->xa_nslots)
			return false;
		above = shift;
		if (!load_slot(v, node, shift, index, ret))
			return false;
	}
	return *ret && !(*ret & VP_ENTRY_TAG);
}

/* --- maple tree ------------------------------------------------------------------------------ */

static bool load_maple_slot(struct vp_vcpu_session *v, uint64_t node, const struct vp_maple_shape *shape,
			    uint64_t key, uint64_t *ret)
{
	uint64_t pivots[VP_MAPLE_PIVOTS_MAX];
	uint32_t i = 0;

	if (!vp_load_kernel(v, node + shape->pivot, pivots, shape->pivots * sizeof(*pivots)))
		return false;
	while (i < shape->pivots && pivots[i] < key && (pivots[i] || !i))
		i++;
	return vp_load_u64(v, node + shape->slot + 8ull * i, ret);
}

bool vp_maple_find(struct vp_vcpu_session *v, uint64_t root, uint64_t key, uint64_t *ret)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;

	/* Only the root's pointer has a tag. An entry in the root itself is that of key 0. */
	if (!vp_load_u64(v, root, ret) || !vp_entry_is_node(*ret))
		return false;
	for (unsigned depth = 0; depth < VP_MAPLE_DEPTH_MAX && *ret; depth++) {
		uint64_t type = *ret >> VP_MAPLE_TYPE_SHIFT & VP_MAPLE_TYPE_MASK;
		const struct vp_maple_shape *shape = type == f->maple_arange ? &f->range : &f->leaf;

		if (type != f->maple_leaf && type != f->maple_range && type != f->maple_arange)
			return false;
		if (!load_maple_slot(v, *ret & ~VP_MAPLE_NODE_MASK, shape, key, ret))
			return false;
		if (type == f->maple_leaf)
			return *ret && !(*ret & VP_ENTRY_TAG);
	}
	return false;
}

/* --- red-black tree ---------------------------------------------------------------------------- */

bool vp_rb_find_vma(struct vp_vcpu_session *v, uint64_t root, uint64_t gva, uint64_t *ret)
{
	const struct vp_mapping_facts *f = &v->es->facts.mappings;
	uint64_t node, start, end;

	if (!vp_load_u64(v, root, &node))
		return false;
	for (unsigned depth = 0; depth < RB_DEPTH_MAX && node; depth++) {
		*ret = node - f->vma_rb;
		if (!vp_load_u64(v, *ret + f->vma_start, &start) || !vp_load_u64(v, *ret + f->vma_end, &end))
			return false;
		if (gva >= start && gva < end)
			return true;
		if (!vp_load_u64(v, node + (gva < start ? f->rb_left : f->rb_right), &node))
			return false;
	}
	return false;
}
