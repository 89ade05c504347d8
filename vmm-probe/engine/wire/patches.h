/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a backend has written into guest text, so that whoever reads that text can have the guest's own. Used
 * by the engine on its service thread, and by the operator's process, which gets the list by PATCHES.
 */
#ifndef VP_ENGINE_WIRE_PATCHES_H
#define VP_ENGINE_WIRE_PATCHES_H

#include "vmm-probe/engine/wire/vmm.h"

/* By address; `list` is owned (free()). */
struct vp_patches {
	struct vp_patch *list;
	uint32_t n;
};

/** Bring @p patches, which may be another process's words, in order of address. Those that can't be are
 * dropped: of no length, or too long; beyond the last address; into the one before. */
void vp_patches_sort(struct vp_patches *patches);

/** @p patches have been through vp_patches_sort(). @p bytes were read from guest virtual address @p gva: put
 * the guest's own in place of every patch that is in there whole, or as much of it as was read. What is not
 * as the patch says is left as it is. */
void vp_patches_undo(const struct vp_patches *patches, uint64_t gva, uint8_t *bytes, uint64_t len);

#endif
