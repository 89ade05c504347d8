/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pages of a file that are in the guest's memory. */
#ifndef VP_GUEST_PROCESS_PAGE_CACHE_H
#define VP_GUEST_PROCESS_PAGE_CACHE_H

#include "vmm-probe/guest/process/files.h"

/** Can pages be read at all? UNSUPPORTED: this kernel's struct pages can't be located. */
OT_MUST_CHECK struct ot_err *vp_page_cache_check(const struct vp_processes *ps);

/** Copy page number @p index of the file with that struct address_space into @p dst, VP_PAGE_SIZE bytes. The
 * copied memory was that page before and after the copy. NOT_FOUND: it is not in memory (swapped out, never
 * read, reclaimed), or is just being read in. BUSY: each attempt met a change. */
OT_MUST_CHECK struct ot_err *vp_page_cache_read(struct vp_processes *ps, uint64_t mapping, uint64_t index,
						void *dst);

#endif
