/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to walk the stacks of programs without frame pointers: rules made from the .eh_frame of the files that
 * some processes have mapped, which the operator's process sends with FRAMES, in sealed memfds; and the
 * layouts of their runtimes' frames (runtimes.h). The engine maps them read-only and treats them as hostile:
 * the counts are checked once, each index whenever it is used. A file's rows come once: processes that are
 * met later refer to the FRAMES that brought them.
 *
 *   header | nprocesses × struct vp_frames_process | nruntimes × struct vp_runtime |
 *   nmaps × struct vp_frames_map | nrows × struct vp_frame_row
 */
#ifndef VP_ENGINE_WIRE_USER_FRAMES_H
#define VP_ENGINE_WIRE_USER_FRAMES_H

#include "vmm-probe/engine/wire/batch.h"
#include "vmm-probe/engine/wire/frames_map.h"
#include "vmm-probe/engine/wire/runtimes.h"

#define VP_FRAMES_MAGIC         0x32524655u /* "UFR2" */
#define VP_FRAMES_SIZE_MAX      (64u << 20) /* of all FRAMES of a session */
#define VP_FRAMES_SENT_MAX      4096u       /* … of which there are */
#define VP_FRAMES_PROCESSES_MAX 1024u       /* of one FRAMES */
#define VP_NO_RUNTIME           UINT32_MAX

/* How a frame's CFA is computed: the caller's stack pointer, and 8 above where the return address is. */
enum vp_frame_kind {
	VP_FRAME_NONE,   /* no rule: the walk continues by frame pointer */
	VP_FRAME_STOP,   /* the outermost frame, or a rule that can't be expressed here */
	VP_FRAME_SP,     /* the stack pointer + 8 × cfa */
	VP_FRAME_FP,     /* the frame pointer + 8 × cfa */
	VP_FRAME_SIGNAL, /* none: the registers that a signal interrupted are at the stack pointer */
	VP_FRAME_PLT,    /* the stack pointer + 8 + vp_native_plt_pushed(pc, cfa) */
};

#define VP_FRAME_KIND 7 /* bits of vp_frame_row.fp */

/* Holds from its offset to the next row's. */
struct vp_frame_row {
	uint32_t offset; /* from vp_frames_map.base */
	int16_t cfa;     /* words of 8 bytes; with PLT another number */
	int16_t fp;      /* VP_FRAME_KIND: enum vp_frame_kind. The other bits: the caller's frame pointer is
			  * saved so many bytes from the CFA, a multiple of 8; 0: it is what it was */
};

/* A process that is sent again, because it has mapped something since, replaces the earlier one. */
struct vp_frames_process {
	struct vp_batch_process id;
	uint32_t first_map, nmaps;
	uint32_t runtime; /* its index in this FRAMES; VP_NO_RUNTIME: none */
	uint32_t pad;
};

struct vp_frames_header {
	uint32_t magic;
	uint32_t nprocesses, nruntimes, nmaps, nrows;
	uint32_t pad;
};

static inline struct vp_frame_row vp_frame_row(uint32_t offset, enum vp_frame_kind kind, int16_t cfa,
					       int16_t fp)
{
	return (struct vp_frame_row){ offset, cfa, (int16_t)((fp & ~VP_FRAME_KIND) | (int)kind) };
}

static inline enum vp_frame_kind vp_frame_kind(const struct vp_frame_row *row)
{
	return (enum vp_frame_kind)(row->fp & VP_FRAME_KIND);
}

#endif
