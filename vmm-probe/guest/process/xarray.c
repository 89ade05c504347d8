/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking up an entry. Each step goes to a node whose shift is smaller, so the walk ends. */
#include "vmm-probe/guest/process/xarray.h"

#include <stdbool.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/process/internal.h"

/* The entry in the slot of @p index; a sibling entry refers to another slot. */
static struct ot_err *load_slot(struct vp_processes *ps, uint64_t node, uint8_t shift, uint64_t index,
				uint64_t *ret)
{
	uint64_t slot = index >> shift & (ps->l.xa_nslots - 1), named;

	OT_TRY(vp_kernel_u64(ps, node + ps->l.xa_slots + 8 * slot, ret));
	if (!vp_entry_is_internal(*ret) || *ret >= VP_XARRAY_SIBLING_END)
		return NULL;
	named = *ret >> 2;
	if (named >= slot)
		return vp_process_torn();
	OT_TRY(vp_kernel_u64(ps, node + ps->l.xa_slots + 8 * named, ret));
	return vp_entry_is_internal(*ret) ? vp_process_torn() : NULL;
}

/* The end of a walk. */
struct place {
	uint64_t entry; /* an aligned address, or 0 */
	uint8_t shift;  /* log2 of the number of indices that its slot covers */
	bool beyond;    /* the tree is not that large */
};

static struct ot_err *walk(struct vp_processes *ps, uint64_t head, uint64_t index, struct place *ret)
{
	uint64_t entry;
	uint8_t above = VP_XARRAY_SHIFT_MAX + 1;

	*ret = (struct place){ 0 };
	OT_TRY(vp_kernel_u64(ps, head, &entry));
	/* An entry in the head itself is that of index 0. */
	if (!vp_entry_is_internal(entry) && index) {
		ret->beyond = true;
		return NULL;
	}
	while (vp_entry_is_node(entry)) {
		uint64_t node = entry - VP_ENTRY_INTERNAL;

		OT_TRY(vp_kernel_read(ps, node + ps->l.xa_shift, &ret->shift, 1));
		if (ret->shift >= above)
			return vp_process_torn();
		if (above > VP_XARRAY_SHIFT_MAX && index >> ret->shift >= ps->l.xa_nslots) {
			ret->beyond = true;
			return NULL;
		}
		above = ret->shift;
		OT_TRY(load_slot(ps, node, ret->shift, index, &entry));
	}
	if (vp_entry_is_internal(entry))
		return vp_process_torn();
	ret->entry = entry & VP_ENTRY_TAG ? 0 : entry;
	return NULL;
}

struct ot_err *vp_xarray_load(struct vp_processes *ps, uint64_t head, uint64_t index, uint64_t *ret)
{
	struct place p;

	OT_TRY(walk(ps, head, index, &p));
	*ret = p.entry;
	return NULL;
}

struct ot_err *vp_xarray_next(struct vp_processes *ps, uint64_t head, uint64_t *index, uint64_t *ret)
{
	struct place p;

	for (;;) {
		OT_TRY(walk(ps, head, *index, &p));
		*ret = p.entry;
		if (p.entry || p.beyond)
			return NULL;
		uint64_t next = ((*index >> p.shift) + 1) << p.shift;
		if (next <= *index)
			return NULL;
		*index = next;
		OT_TRY(vp_budget_check());
	}
}
