/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking up an entry. Each step goes to a node whose shift is smaller, so the walk ends. */
#include "vmm-probe/guest/process/xarray.h"

#include <string.h>

#include "vmm-probe/guest/process/internal.h"

#define TAG         3u /* low bits: 0 an address, 2 internal, else a value */
#define INTERNAL    2u
#define NOT_NODES   4096u /* internal entries above are nodes */
#define SIBLING_END 256u  /* internal entries below name the slot that they belong to */
#define SHIFT_MAX   60u

/* The entry in the slot of @p index; a sibling's is the one that it names. */
static struct ot_err *load_slot(struct vp_processes *ps, uint64_t node, uint8_t shift, uint64_t index,
				uint64_t *ret)
{
	uint64_t slot = index >> shift & (ps->l.xa_nslots - 1), named;

	OT_TRY(vp_kernel_u64(ps, node + ps->l.xa_slots + 8 * slot, ret));
	if ((*ret & TAG) != INTERNAL || *ret >= SIBLING_END)
		return NULL;
	named = *ret >> 2;
	if (named >= slot)
		return vp_process_torn();
	OT_TRY(vp_kernel_u64(ps, node + ps->l.xa_slots + 8 * named, ret));
	return (*ret & TAG) == INTERNAL && *ret ? vp_process_torn() : NULL;
}

struct ot_err *vp_xarray_load(struct vp_processes *ps, uint64_t head, uint64_t index, uint64_t *ret)
{
	uint64_t entry;
	uint8_t shift, above = SHIFT_MAX + 1;

	OT_TRY(vp_kernel_u64(ps, head, &entry));
	/* An entry in the head itself is that of index 0. */
	if ((entry & TAG) != INTERNAL && index) {
		*ret = 0;
		return NULL;
	}
	while ((entry & TAG) == INTERNAL && entry > NOT_NODES) {
		uint64_t node = entry - INTERNAL;

		OT_TRY(vp_kernel_read(ps, node + ps->l.xa_shift, &shift, 1));
		if (shift >= above)
			return vp_process_torn();
		if (above > SHIFT_MAX && index >> shift >= ps->l.xa_nslots) {
			*ret = 0; /* the tree is not that large */
			return NULL;
		}
		above = shift;
		OT_TRY(load_slot(ps, node, shift, index, &entry));
	}
	if ((entry & TAG) == INTERNAL)
		return vp_process_torn();
	*ret = entry & TAG ? 0 : entry;
	return NULL;
}
