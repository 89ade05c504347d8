/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking up an entry. Each step goes to a node whose shift is smaller, so the walk ends. */
#include "vmm-probe/guest/process/xarray.h"

#include <stdbool.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/internal.h"

static struct ot_err *read_node(struct vp_processes *ps, uint64_t at, struct vp_xarray_leaf *ret)
{
	const struct vp_member members[] = {
		VP_MEMBER(ps->l.xa_shift, &ret->shift),
		{ ps->l.xa_slots, (uint32_t)(ps->l.xa_nslots * sizeof(*ret->slots)), ret->slots },
	};

	ret->last = 0;
	return vp_kernel_members(ps, at, members, OT_ARRAY_SIZE(members));
}

/* Where the slots of a number are. */
static uint64_t slot_of(const struct vp_processes *ps, uint8_t shift, uint64_t index)
{
	return index >> shift & (ps->l.xa_nslots - 1);
}

/* The entry in *slot; a sibling entry refers to another slot, which *slot becomes. */
static struct ot_err *slot_entry(const struct vp_xarray_leaf *node, uint64_t *slot, uint64_t *ret)
{
	uint64_t named;

	*ret = node->slots[*slot];
	if (!vp_entry_is_internal(*ret) || *ret >= VP_XARRAY_SIBLING_END)
		return NULL;
	named = *ret >> 2;
	if (named >= *slot)
		return vp_process_torn();
	*slot = named;
	*ret = node->slots[named];
	return vp_entry_is_internal(*ret) ? vp_process_torn() : NULL;
}

/* The end of a walk. */
struct place {
	uint64_t entry; /* an aligned address, or 0 */
	uint64_t slot;  /* the address of what has it */
	bool beyond;    /* the tree is not that large */
};

static struct ot_err *take_entry(uint64_t entry, uint64_t *ret)
{
	if (vp_entry_is_internal(entry))
		return vp_process_torn();
	*ret = entry & VP_ENTRY_TAG ? 0 : entry;
	return NULL;
}

/* From a node down; @node is a copy of the last one. */
static struct ot_err *walk_nodes(struct vp_processes *ps, uint64_t entry, uint64_t index,
				 struct vp_xarray_leaf *node, struct place *ret)
{
	uint8_t above = VP_XARRAY_SHIFT_MAX + 1;

	while (vp_entry_is_node(entry)) {
		uint64_t at = entry - VP_ENTRY_INTERNAL, slot;

		OT_TRY(read_node(ps, at, node));
		if (node->shift >= above)
			return vp_process_torn();
		ret->beyond = above > VP_XARRAY_SHIFT_MAX && index >> node->shift >= ps->l.xa_nslots;
		if (ret->beyond)
			return NULL;
		above = node->shift;
		slot = slot_of(ps, above, index);
		OT_TRY(slot_entry(node, &slot, &entry));
		ret->slot = at + ps->l.xa_slots + sizeof(entry) * slot;
	}
	return take_entry(entry, &ret->entry);
}

static struct ot_err *walk(struct vp_processes *ps, uint64_t head, uint64_t index,
			   struct vp_xarray_leaf *node, struct place *ret)
{
	uint64_t entry;

	*ret = (struct place){ .slot = head };
	node->shift = 0;
	node->last = 0;
	OT_TRY(vp_kernel_u64(ps, head, &entry));
	if (vp_entry_is_internal(entry))
		return walk_nodes(ps, entry, index, node, ret);
	/* An entry in the head itself is that of index 0. */
	ret->beyond = index > 0;
	return ret->beyond ? NULL : take_entry(entry, &ret->entry);
}

struct ot_err *vp_xarray_locate(struct vp_processes *ps, uint64_t head, uint64_t index, uint64_t *ret,
				uint64_t *ret_slot)
{
	struct vp_xarray_leaf node;
	struct place p;

	OT_TRY(walk(ps, head, index, &node, &p));
	*ret = p.entry;
	*ret_slot = p.slot;
	return NULL;
}

struct ot_err *vp_xarray_load(struct vp_processes *ps, uint64_t head, uint64_t index, uint64_t *ret)
{
	uint64_t slot;

	return vp_xarray_locate(ps, head, index, ret, &slot);
}

static bool is_in(const struct vp_xarray_leaf *leaf, uint64_t index)
{
	return leaf->last && index >= leaf->first && index <= leaf->last;
}

/* Only a node at the bottom has nothing but entries. */
static struct ot_err *walk_to_leaf(struct vp_processes *ps, uint64_t head, uint64_t index,
				   struct vp_xarray_leaf *leaf, struct place *ret)
{
	OT_TRY(walk(ps, head, index, leaf, ret));
	if (ret->beyond || ret->slot == head || leaf->shift)
		return NULL;
	leaf->first = index - slot_of(ps, 0, index);
	leaf->last = leaf->first + ps->l.xa_nslots - 1;
	return NULL;
}

static struct ot_err *find_in(struct vp_processes *ps, const struct vp_xarray_leaf *leaf, uint64_t index,
			      uint64_t *ret)
{
	uint64_t slot = slot_of(ps, 0, index), entry;

	OT_TRY(slot_entry(leaf, &slot, &entry));
	return take_entry(entry, ret);
}

struct ot_err *vp_xarray_next(struct vp_processes *ps, uint64_t head, struct vp_xarray_leaf *leaf,
			      uint64_t *index, uint64_t *ret)
{
	for (;;) {
		struct place p = { 0 };
		uint64_t next;

		if (is_in(leaf, *index)) {
			OT_TRY(find_in(ps, leaf, *index, &p.entry));
		} else {
			OT_TRY(vp_budget_check());
			OT_TRY(walk_to_leaf(ps, head, *index, leaf, &p));
		}
		*ret = p.entry;
		next = ((*index >> leaf->shift) + 1) << leaf->shift;
		if (p.entry || p.beyond || next <= *index)
			return NULL;
		*index = next;
	}
}
