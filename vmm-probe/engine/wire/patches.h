/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A backend's changes of guest text, so that a reader of that text can restore the guest's own bytes. Used
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

/** Sort @p patches, perhaps another process's data, by address. Invalid ones are dropped: empty or too long,
 * beyond the last address, or overlapping the previous one. */
void vp_patches_sort(struct vp_patches *patches);

/** @p patches have been through vp_patches_sort(). @p bytes were read from guest virtual address @p gva:
 * restore the guest's own bytes at every patch that is in them whole, or as much of it as was read. Bytes
 * that differ from the patch are left as they are. */
void vp_patches_undo(const struct vp_patches *patches, uint64_t gva, uint8_t *bytes, uint64_t len);

#endif
