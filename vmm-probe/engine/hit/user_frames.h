/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rules for walking the stacks of processes (engine/wire/user_frames.h), as a hit finds them. Hit path. */
#ifndef VP_ENGINE_HIT_USER_FRAMES_H
#define VP_ENGINE_HIT_USER_FRAMES_H

#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/wire/user_frames.h"

/* What one FRAMES has brought. The arrays are its sender's memory, which may change at any time. */
struct vp_user_frames {
	struct vp_user_frames *next; /* the one before; NULL: there is none */
	const struct vp_frames_process *processes;
	const struct vp_frames_map *maps;
	const struct vp_frame_row *rows;
	uint32_t nprocesses, nmaps, nrows;
};

/* Those of one process. */
struct vp_process_frames {
	const struct vp_user_frames *in;
	uint32_t first_map, nmaps;
};

/** Find those of the vCPU's process. False: there are none. */
bool vp_frames_of_process(struct vp_vcpu_session *v, struct vp_process_frames *ret);

/** The row for @p pc. False: it is in none of the parts that have rules; VP_FRAME_NONE: that part has none
 * for it. */
bool vp_frames_row(const struct vp_process_frames *frames, uint64_t pc, struct vp_frame_row *ret);

#endif
