/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks of the kernel and of the running process. Hit path. */
#ifndef VP_ENGINE_HIT_UNWIND_H
#define VP_ENGINE_HIT_UNWIND_H

#include "vmm-probe/engine/hit/hit_session.h"

/** Kernel return addresses, innermost (the probe site itself) first, at most @p max (up to
 * VP_FRAMES_MAX); returns how many. @p pcs may be NULL. */
uint32_t vp_unwind_kernel(struct vp_vcpu_session *v, uint64_t *pcs, uint32_t max);
uint64_t vp_caller(struct vp_vcpu_session *v);

/* A frame of a process. */
struct vp_user_frame {
	uint64_t ip, sp, bp;
	bool exact; /* ip is the instruction that runs next, not a return address */
};

/** The process's registers where the vCPU has just left it, and is a few frames deep in the kernel by the
 * unwind table's rules. False: it is not there, or there is no table. */
bool vp_interrupted_user(struct vp_vcpu_session *v, struct vp_user_frame *ret);
/** The same of the process. @p ends, if it is not NULL: the address above each frame, where the one below it
 * begins; 0: unknown. */
uint32_t vp_unwind_user(struct vp_vcpu_session *v, uint64_t *pcs, uint64_t *ends, uint32_t max);

#endif
