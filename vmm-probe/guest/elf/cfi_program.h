/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs of call frame information (DWARF 5, 6.4), as in .eh_frame: for each address of a function they
 * give the places of its caller's registers. Executed here for the registers that a walk over frames needs:
 * CFA, return address, frame pointer.
 */
#ifndef VP_GUEST_ELF_CFI_PROGRAM_H
#define VP_GUEST_ELF_CFI_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "vmm-probe/engine/wire/user_frames.h"

#define VP_CFI_OPERATIONS_MAX 4096u /* of one function, with those of its CIE */
#define VP_CFI_REMEMBERED_MAX 16u   /* states */

/* Bytes that are read one after another; behind the end, everything is 0 and `bad`. */
struct vp_cfi_bytes {
	const uint8_t *at, *end;
	bool bad;
};

/** The next @p n bytes, borrowed; NULL: there are fewer, and the rest is bad. */
const uint8_t *vp_cfi_take(struct vp_cfi_bytes *b, uint64_t n);
/** The next @p n bytes, at most 8, as a number. */
uint64_t vp_cfi_fixed(struct vp_cfi_bytes *b, unsigned n);
uint64_t vp_cfi_uleb(struct vp_cfi_bytes *b);
int64_t vp_cfi_sleb(struct vp_cfi_bytes *b);

/* The common part of functions: a CIE. */
struct vp_cfi_common {
	uint64_t code_align;
	int64_t data_align;
	uint64_t saved;              /* DWARF's number of the register whose place rows have: the frame
				      * pointer, usually */
	bool is_signal;              /* it returns from a signal's handler */
	struct vp_cfi_bytes program; /* borrowed */
};

/* [start, end), as linked. */
struct vp_cfi_function {
	uint64_t start, end;
	struct vp_cfi_bytes program; /* borrowed */
};

/* From @p addr on, @p row holds; its offset is not set. False ends the program. */
typedef bool (*vp_cfi_emit)(void *arg, uint64_t addr, const struct vp_frame_row *row);

/** Give @p emit the rows of a function, by address, none twice; the first is at its start. A rule that no row
 * can express is STOP, and so is everything from the point where the program is invalid or too long. False:
 * @p emit returned false. */
OT_MUST_CHECK bool vp_cfi_run(const struct vp_cfi_common *common, const struct vp_cfi_function *function,
			      vp_cfi_emit emit, void *arg);

#endif
