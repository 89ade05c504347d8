/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child's side of a confined job. */
#ifndef VP_CONFINED_CHILD_H
#define VP_CONFINED_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "vmm-probe/confined/confined.h"

#define VP_CONFINED_NO_MEMORY  70 /* exit status: see vp_confined_no_memory() */
#define VP_CONFINED_ERROR_TEXT 400u

/* What the child writes before its bytes: a result, or an error's message. */
struct vp_confined_frame {
	uint32_t is_error;
	uint32_t code; /* enum ot_err_code */
	uint64_t len;
};

/** Give up all rights, run the job, write a frame and its bytes to @p out, and end. */
OT_NORETURN void vp_confined_child(const struct vp_confined_job *job, pid_t parent, int out);

#endif
