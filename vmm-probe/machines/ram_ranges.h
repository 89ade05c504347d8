/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guest RAM as lists of ranges, in the process of its VMM: made from the VMM's mappings, and the files behind
 * them. */
#ifndef VP_MACHINES_RAM_RANGES_H
#define VP_MACHINES_RAM_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/engine/wire/vmm.h"

/** Is any of [@p gpa, @p end) RAM to a kernel, and not only the firmware's shadow or video memory? */
bool vp_ram_is_kernels(uint64_t gpa, uint64_t end);

/** Add what a kernel may use of [@p gpa, @p end), which is at @p host: up to two ranges of whole pages.
 * Returns the new number of ranges in @p list, @p max at most: the rest is left out if it does not fit. */
uint32_t vp_ram_add(struct vp_ram_range *list, uint32_t n, uint32_t max, uint64_t gpa, uint64_t end,
		    uint64_t host);

/** Sort @p list by address, and make one range of those that adjoin in the guest and here. Returns the new
 * number of ranges. */
uint32_t vp_ram_join(struct vp_ram_range *list, uint32_t n);

/** Do both lists have the same memory in the same places? */
bool vp_ram_same(const struct vp_ram_range *a, uint32_t na, const struct vp_ram_range *b, uint32_t nb);

/** Fill in the files of @p ram and store new descriptors of them, at most @p max, in @p fds. Returns their
 * number. */
uint32_t vp_ram_files(struct vp_ram_range *ram, uint32_t nram, int *fds, uint32_t max);

#endif
