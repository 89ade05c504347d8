/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions by .eh_frame_hdr: its table contains their beginnings, their descriptions' first fields their
 * ends. */
#include "base/search.h"
#include "vmm-probe/guest/elf/eh_frame.h"
#include "vmm-probe/guest/elf/symbols.h"

/* The first entry whose function begins after @p addr; false: a page on the way is missing. */
static bool search(struct vp_elf *elf, const struct vp_eh_table *t, uint64_t addr, size_t *ret)
{
	bool all = true;
	struct vp_eh_entry entry;

	*ret = OT_COUNT_BEFORE(t->count, i,
			       (all = all && vp_eh_table_entry(elf, t, i, &entry)) && entry.function <= addr);
	return all;
}

/* The end of the function by its description, if that has the usual form; 0: unknown. */
static uint64_t end_of(struct vp_elf *elf, const struct vp_eh_entry *entry)
{
	struct {
		uint32_t length, cie;
		int32_t begin;
		uint32_t range;
	} fde;
	uint64_t at;

	if (!vp_elf_offset(elf, entry->description, sizeof(fde), &at) ||
	    !vp_elf_image_read(elf->image, VP_PART_FRAMES, at, &fde, sizeof(fde)))
		return 0;
	if (entry->description + 8 + (uint64_t)(int64_t)fde.begin != entry->function)
		return 0;
	return entry->function + fde.range;
}

bool vp_elf_function_at(struct vp_elf *elf, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end)
{
	struct vp_eh_entry entry, next;
	struct vp_eh_table t;
	size_t behind;
	uint64_t end;

	if (!vp_eh_table_find(elf, &t) || !search(elf, &t, addr, &behind) || !behind ||
	    !vp_eh_table_entry(elf, &t, behind - 1, &entry))
		return false;
	end = end_of(elf, &entry);
	if (!end && behind < t.count && vp_eh_table_entry(elf, &t, behind, &next))
		end = next.function;
	if (addr < entry.function || addr >= end)
		return false;
	*ret_start = entry.function;
	*ret_end = end;
	return true;
}
