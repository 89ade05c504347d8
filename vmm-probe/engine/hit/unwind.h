/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of the kernel and of the running process. Hit path. */
#ifndef VP_ENGINE_HIT_UNWIND_H
#define VP_ENGINE_HIT_UNWIND_H

#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/hit/texts.h"

/** Kernel return addresses, innermost (the probe site itself) first, at most @p max (up to
 * VP_FRAMES_MAX); returns how many. @p pcs may be NULL. */
uint32_t vp_unwind_kernel(struct vp_vcpu_session *v, uint64_t *pcs, uint32_t max);
uint64_t vp_caller(struct vp_vcpu_session *v);

/* A frame of a process. */
struct vp_user_frame {
	uint64_t ip, sp, bp;
	bool exact;    /* ip is the instruction that runs next, not a return address */
	uint64_t regs; /* of the innermost: where the kernel has saved its registers (struct pt_regs); 0:
			  nowhere */
};

/** The process's registers if the vCPU has just left it, and is a few frames deep in the kernel by the unwind
 * table's rules. False: it is elsewhere, or there is no table. */
bool vp_interrupted_user(struct vp_vcpu_session *v, struct vp_user_frame *ret);

/** A register out of a struct pt_regs at @p regs, a guest address, unchecked; 0: nowhere. False: it can't be
 * read, or is not there. */
bool vp_load_saved_reg(struct vp_vcpu_session *v, uint64_t regs, enum vp_reg reg, uint64_t *ret);
/** The same of the process whose task runs in the kernel. */
bool vp_saved_user_reg(struct vp_vcpu_session *v, enum vp_reg reg, uint64_t *ret);

/* The outputs for a process's stack; each may be NULL. */
struct vp_user_unwound {
	uint64_t *pcs;
	uint64_t *ends;         /* the address above each frame, where the one below it begins; 0: unknown */
	struct vp_texts *notes; /* of frames of code that a runtime has made: a string for each frame, "" for
				 * others. texts->full: not all fitted */
	uint64_t *regs;         /* vp_user_frame.regs */
};

/** The same of the process. */
uint32_t vp_unwind_user(struct vp_vcpu_session *v, const struct vp_user_unwound *to, uint32_t max);

#endif
