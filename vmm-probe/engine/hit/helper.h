/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * DTrace's ustack helper: texts for frames of a user stack that are an interpreter's, and name the
 * interpreted function. Hit path.
 */
#ifndef VP_ENGINE_HIT_HELPER_H
#define VP_ENGINE_HIT_HELPER_H

#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/hit/texts.h"

/* A user stack, the innermost frame first. */
struct vp_user_stack {
	uint32_t n, max;
	uint64_t regs; /* vp_user_frame.regs */
	uint64_t pcs[VP_FRAMES_MAX];
	uint64_t ends[VP_FRAMES_MAX]; /* the address above each frame; 0: unknown */
};

/** Put a text for each frame, each with a NUL behind it. Of a frame that interprets: '@', then a line for
 * each frame of the program, with '\n' between them. Of another: "". Frames of the program for which none was
 * found are added to @p stack with DIF_FRAME_WITHOUT_PC, each with its own text, as long as there is room.
 * texts->full: not all texts had room there, or could be read within the bound of loads. */
void vp_helper_texts(struct vp_vcpu_session *v, struct vp_user_stack *stack, struct vp_texts *texts);

#endif
