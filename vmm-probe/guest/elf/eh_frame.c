/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading .eh_frame_hdr (Linux Standard Base, "Exception Frames"). It is loaded with the program, and
 * stripping leaves it. */
#include "vmm-probe/guest/elf/eh_frame.h"

#define PCREL_SDATA4   0x1bu
#define UDATA4         0x03u
#define DATAREL_SDATA4 0x3bu
#define ENTRIES_MAX    (4u << 20)

bool vp_eh_table_find(struct vp_elf *elf, struct vp_eh_table *ret)
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
		*ret = (struct vp_eh_table){ p->p_vaddr, p->p_offset + sizeof(h), h.count };
		return true;
	}
	return false;
}

bool vp_eh_table_entry(struct vp_elf *elf, const struct vp_eh_table *t, size_t i, struct vp_eh_entry *ret)
{
	int32_t pair[2];

	if (!vp_elf_image_read(elf->image, VP_PART_FRAMES, t->entries + 8 * i, pair, sizeof(pair)))
		return false;
	ret->function = t->addr + (uint64_t)(int64_t)pair[0];
	ret->description = t->addr + (uint64_t)(int64_t)pair[1];
	return true;
}
