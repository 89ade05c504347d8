/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of QEMU's monitor command `info mtree -f`: each flat view begins with a line "FlatView …", names
 * the address spaces that have it, and lists its regions,
 *
 *   0000000000000000-000000000009ffff (prio 0, ram): pc.ram
 *
 * Its names are the operator's, so no line is trusted to be well-formed.
 */
#ifndef VP_MACHINES_QEMU_VIEW_H
#define VP_MACHINES_QEMU_VIEW_H

#include <stdbool.h>
#include <stdint.h>

/** The flat view of the address space @p space ("memory", "I/O") in @p text, for the functions below; NULL:
 * there is none. */
const char *vp_qemu_view_of(const char *text, const char *space);

/** The next RAM in the view that *@p at is in, which is moved behind it: its first byte, and the byte behind
 * its last. Video memory and other devices' memory is none. False: no more. */
bool vp_qemu_view_ram(const char **at, uint64_t *start, uint64_t *end);

/** The same for ports that a device has, with its last port as @p last. */
bool vp_qemu_view_device(const char **at, uint64_t *start, uint64_t *last);

#endif
