/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image whose pages are read on demand, and kept, for the readers of guest/elf/. */
#ifndef VP_GUEST_ELF_PAGES_H
#define VP_GUEST_ELF_PAGES_H

#include "base/err.h"
#include "vmm-probe/guest/elf/image.h"

#define VP_PAGES_COPY_MAX (64u << 20) /* bytes of one file that are kept; further pages count as missing */

struct vp_elf_pages;

/* Fill @p dst, VP_IMAGE_PAGE bytes, with page @p index. False: it is not there. */
typedef bool (*vp_page_reader)(void *arg, uint64_t index, uint8_t *dst);

/** An image of @p size bytes, with each page read by @p read once. LIMIT: it is too large. */
OT_MUST_CHECK struct ot_err *vp_elf_pages_create(uint64_t size, vp_page_reader read, void *arg,
						 struct vp_elf_pages **ret);
/** NULL is fine. */
void vp_elf_pages_destroy(struct vp_elf_pages *pages);

/** The image for readers; borrowed. */
struct vp_elf_image *vp_elf_pages_image(struct vp_elf_pages *pages);

/** The number of pages of the file, and of requested pages that are missing. */
void vp_elf_pages_count(const struct vp_elf_pages *pages, uint64_t *ret_pages, uint64_t *ret_missing);

/** Free the copies, which returns their memory to the budget that has paid for them: pointers that readers
 * still hold become invalid; later readers get new copies. */
void vp_elf_pages_forget(struct vp_elf_pages *pages);

#endif
