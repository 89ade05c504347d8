/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The child's side of a confined job. */
#ifndef VP_CONFINED_CHILD_H
#define VP_CONFINED_CHILD_H

#include <stdint.h>
#include <sys/types.h>

#include "vmm-probe/confined/confined.h"

#define VP_CONFINED_NO_MEMORY  70 /* exit status: see vp_confined_no_memory() */
#define VP_CONFINED_ERROR_TEXT 1000u

enum vp_confined_kind {
	VP_CONFINED_RESULT = 1, /* nothing follows: it is in shared memory */
	VP_CONFINED_ERROR,      /* its message follows */
	VP_CONFINED_ASKS,       /* its question follows */
};

/* The header that the child writes before its bytes, if any follow. */
struct vp_confined_frame {
	uint32_t kind; /* enum vp_confined_kind */
	uint32_t code; /* enum ot_err_code, of an error */
	uint64_t len;  /* of what follows; of a result, in shared memory */
};

/* The header that it reads before the bytes of an answer, or of an error's message. */
struct vp_confined_reply {
	uint32_t code; /* enum ot_err_code; 0: an answer */
	uint32_t len;
};

/* The child's ends of its connections to its parent. */
struct vp_confined_ends {
	void *result; /* shared memory of limits.result_mib */
	size_t result_size;
	int out;
	int answers; /* -1: it may make no requests */
};

/** Give up all rights, run the job, write a frame and its bytes, and end. */
OT_NORETURN void vp_confined_child(const struct vp_confined_job *job, pid_t parent,
				   const struct vp_confined_ends *ends);

#endif
