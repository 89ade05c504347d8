/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A guest's file as an image of guest/elf/: its pages that are in the guest's memory. The kernel's own code
 * is read as one. */
#ifndef VP_GUEST_PROCESS_IMAGE_H
#define VP_GUEST_PROCESS_IMAGE_H

#include "vmm-probe/guest/elf/pages.h"
#include "vmm-probe/guest/process/files.h"

/* The source of its pages. */
struct vp_file_reader {
	struct vp_processes *ps;
	struct vp_file_id id;
	uint64_t vdso; /* struct vp_file */
};

/** The file's image; @p reader is set, and borrowed by *ret. UNSUPPORTED: as vp_page_cache_check(). LIMIT: it
 * is too large. */
OT_MUST_CHECK struct ot_err *vp_file_pages(struct vp_processes *ps, const struct vp_file *file,
					   struct vp_file_reader *reader, struct vp_elf_pages **ret);

#endif
