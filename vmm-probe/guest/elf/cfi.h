/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules by which stacks are walked through a file's functions, from its .eh_frame: stripping leaves that.
 */
#ifndef VP_GUEST_ELF_CFI_H
#define VP_GUEST_ELF_CFI_H

#include "vmm-probe/engine/wire/user_frames.h"
#include "vmm-probe/guest/elf/elf.h"

#define VP_CFI_ROWS_MAX (2u << 20) /* of a file: 16 MiB */

struct vp_cfi {
	uint64_t base;             /* an address as linked, from which the rows' offsets count */
	struct vp_frame_row *rows; /* owned; by offset, each one's different from the one's before */
	size_t count, cap;
	uint32_t functions; /* that .eh_frame_hdr names */
	uint32_t missing;   /* … whose descriptions' pages are missing: they have no rule */
};

/** Read all of a file. A function with an invalid description has STOP. NOT_FOUND: there is no .eh_frame_hdr
 * of the usual form, or its page is missing. LIMIT: too many rows, or the caller's budget. The caller deinits
 * *ret after success. */
OT_MUST_CHECK struct ot_err *vp_cfi_read(struct vp_elf *elf, struct vp_cfi *ret);
/** The same with another register, by DWARF's number, in place of the frame pointer: a row has the place
 * where that register is saved, and nothing about the frame pointer. */
OT_MUST_CHECK struct ot_err *vp_cfi_read_saved(struct vp_elf *elf, uint64_t reg, struct vp_cfi *ret);
void vp_cfi_deinit(struct vp_cfi *cfi);

#endif
