/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions by .eh_frame_hdr (Linux Standard Base, "Exception Frames"): a table of pairs, by address, of a
 * function's beginning and its description in .eh_frame, whose first fields say where it ends. Both are
 * loaded with the program, and stripping leaves them.
 */
#include "base/search.h"
#include "vmm-probe/guest/elf/symbols.h"

#define PCREL_SDATA4   0x1bu
#define UDATA4         0x03u
#define DATAREL_SDATA4 0x3bu
#define ENTRIES_MAX    (4u << 20)

struct table {
	uint64_t addr;    /* of .eh_frame_hdr, as linked: the entries are relative to it */
	uint64_t entries; /* offset in the file */
	uint32_t count;
};

static bool find_table(struct vp_elf *elf, struct table *ret)
{
	struct {
		uint8_t version, frame_encoding, count_encoding, table_encoding;
		uint32_t frame, count;
	} h;

	for (size_t i = 0; i < elf->nsegments; i++) {
		const Elf64_Phdr *p = &elf->segments[i];

		if (p->p_type != PT_GNU_EH_FRAME || p->p_filesz < sizeof(h) ||
		    !vp_elf_image_read(elf->image, VP_PART_FRAMES, p->p_offset, &h, sizeof(h)))
			continue;
		if (h.version != 1 || h.frame_encoding != PCREL_SDATA4 || h.count_encoding != UDATA4 ||
		    h.table_encoding != DATAREL_SDATA4 || h.count > ENTRIES_MAX ||
		    h.count > (p->p_filesz - sizeof(h)) / 8)
			return false;
		*ret = (struct table){ p->p_vaddr, p->p_offset + sizeof(h), h.count };
		return true;
	}
	return false;
}

/* Entry @p i: the function's beginning and its description's address. */
static bool read_entry(struct vp_elf *elf, const struct table *t, size_t i, uint64_t ret[2])
{
	int32_t pair[2];

	if (!vp_elf_image_read(elf->image, VP_PART_FRAMES, t->entries + 8 * i, pair, sizeof(pair)))
		return false;
	ret[0] = t->addr + (uint64_t)(int64_t)pair[0];
	ret[1] = t->addr + (uint64_t)(int64_t)pair[1];
	return true;
}

/* The first entry whose function begins behind @p addr; false: a page on the way is missing. */
static bool search(struct vp_elf *elf, const struct table *t, uint64_t addr, size_t *ret)
{
	bool all = true;
	uint64_t entry[2];

	*ret = OT_COUNT_BEFORE(t->count, i, (all = all && read_entry(elf, t, i, entry)) && entry[0] <= addr);
	return all;
}

/* Where the function ends by its description, if that is of the usual form; 0: unknown. */
static uint64_t end_of(struct vp_elf *elf, const uint64_t entry[2])
{
	struct {
		uint32_t length, cie;
		int32_t begin;
		uint32_t range;
	} fde;
	uint64_t at;

	if (!vp_elf_offset(elf, entry[1], sizeof(fde), &at) ||
	    !vp_elf_image_read(elf->image, VP_PART_FRAMES, at, &fde, sizeof(fde)))
		return 0;
	if (entry[1] + 8 + (uint64_t)(int64_t)fde.begin != entry[0])
		return 0;
	return entry[0] + fde.range;
}

bool vp_elf_function_at(struct vp_elf *elf, uint64_t addr, uint64_t *ret_start, uint64_t *ret_end)
{
	uint64_t entry[2], next[2], end;
	struct table t;
	size_t behind;

	if (!find_table(elf, &t) || !search(elf, &t, addr, &behind) || !behind ||
	    !read_entry(elf, &t, behind - 1, entry))
		return false;
	end = end_of(elf, entry);
	if (!end && behind < t.count && read_entry(elf, &t, behind, next))
		end = next[0];
	if (addr < entry[0] || addr >= end)
		return false;
	*ret_start = entry[0];
	*ret_end = end;
	return true;
}
