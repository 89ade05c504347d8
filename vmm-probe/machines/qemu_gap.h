/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Guest physical addresses that a QEMU's machine has nothing at, and will not have: by the text of its
 * monitor command `info mtree`, which lists what there is, and what containers it may plug memory into, and
 * by the window of its PCI host bridge, in which a guest or its firmware may place devices' memory.
 */
#ifndef VP_MACHINES_QEMU_GAP_H
#define VP_MACHINES_QEMU_GAP_H

#include <stdbool.h>
#include <stdint.h>

struct vp_qemu_window {
	uint64_t start, end;
};

/**
 * The first @p size bytes (of a GiB at most) at a multiple of 1 GiB, from 4 GiB on, that have nothing in the
 * machine of @p mtree and are outside of
 *   - @p pci, the host bridge's window above 4 GiB
 *   - the last eighth below 2^@p bits, the end of the guest's addresses, and below 2^46 and 2^47: there
 * SeaBIOS and OVMF place devices' memory
 *   - 512 GiB to 1 TiB, where older SeaBIOSes place it; AMD's processors keep the last 12 of these for
 *     HyperTransport.
 * False: there is no such place, or the text is not as expected.
 */
bool vp_qemu_gap(const char *mtree, const struct vp_qemu_window *pci, uint32_t bits, uint64_t size,
		 uint64_t *ret);

#endif
