/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of FRAMES (user_frames.h) for a part of a process's address space. */
#ifndef VP_ENGINE_WIRE_FRAMES_MAP_H
#define VP_ENGINE_WIRE_FRAMES_MAP_H

#include <stdint.h>

/* A part of a process's address space that has rules. Those of a process are by address, not overlapping. */
struct vp_frames_map {
	uint64_t start, end; /* [start, end) */
	uint64_t base;       /* the address from which its rows' offsets count */
	uint32_t sent; /* number of the FRAMES that has its rows, from 0: this one's, or an earlier one's */
	uint32_t first_row, nrows; /* by offset */
	uint32_t unused;
};

#endif
