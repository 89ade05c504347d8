/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table in .eh_frame_hdr: for each function, by address, the place of its description in .eh_frame. */
#ifndef VP_GUEST_ELF_EH_FRAME_H
#define VP_GUEST_ELF_EH_FRAME_H

#include "vmm-probe/guest/elf/elf.h"

struct vp_eh_table {
	uint64_t addr;    /* of .eh_frame_hdr, as linked: the entries are relative to it */
	uint64_t entries; /* offset in the file */
	uint32_t count;   /* at most 4 Mi; as many as the segment has room for */
};

/* Addresses as linked. */
struct vp_eh_entry {
	uint64_t function, description;
};

/** False: the file has none of the usual form, or its beginning is missing. */
OT_MUST_CHECK bool vp_eh_table_find(struct vp_elf *elf, struct vp_eh_table *ret);

/** Entry @p i, below table->count. False: its page is missing. The linker has sorted them; a hostile file's
 * are in any order. */
OT_MUST_CHECK bool vp_eh_table_entry(struct vp_elf *elf, const struct vp_eh_table *table, size_t i,
				     struct vp_eh_entry *ret);

#endif
