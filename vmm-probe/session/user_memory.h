/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of a guest's process as the operator's process reads it: the pages in its page table, and the
 * files' pages of read-only mappings that it has not touched yet.
 */
#ifndef VP_SESSION_USER_MEMORY_H
#define VP_SESSION_USER_MEMORY_H

#include "vmm-probe/guest/elf/elf.h"
#include "vmm-probe/guest/process/maps.h"
#include "vmm-probe/session/user_symbols.h"

struct vp_user_memory {
	struct vp_user_symbols *us;  /* borrowed: its round's budget pays */
	const struct vp_maps *maps;  /* borrowed: the process's, of this round */
	struct vp_user_object *file; /* whose pages were read last */
	struct vp_elf *copy; /* borrowed: the operator's copy of one of its files, which supplies missing
				pages; NULL: none */
	uint64_t copy_bias;  /* where that file is mapped */
	bool over;           /* the round has no budget left */
};

/** The function of a struct vp_user_reader, with a struct vp_user_memory. @p len: up to a page. */
bool vp_user_memory_read(void *memory, uint64_t at, void *dst, size_t len);

/** Forget copies of files' pages; after the last read. */
void vp_user_memory_end(struct vp_user_memory *memory);

#endif
