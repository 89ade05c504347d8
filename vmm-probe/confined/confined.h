/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running a function on hostile input in a child process that has no rights, so that a fault of it harms
 * nothing.
 *
 * The child is forked, so the function sees this process's memory as it was, but for memory that is shared
 * with anybody (a guest's RAM, an engine's buffers): that is unmapped. Of descriptors it has those that are
 * handed in. It can read and write these, manage its own private memory without making any of it executable,
 * and end; a file that it tries to open does not exist for it, and any other system call kills it. It has no
 * capabilities, gains none, dies with this process, and its memory and time are limited. None of this needs
 * root or a namespace. What it returns is bytes: whoever gets them checks them as it checks a guest's.
 */
#ifndef VP_CONFINED_CONFINED_H
#define VP_CONFINED_CONFINED_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define VP_CONFINED_FDS 8u

struct vp_confined_limits {
	uint32_t memory_mib; /* that the function may map or allocate */
	uint32_t cpu_s;      /* of processor time */
	uint32_t wall_s;     /* until the whole result has arrived */
	uint32_t result_mib;
};

struct vp_confined_job {
	const char *what; /* what is read; begins each error's message: "/boot/vmlinux" */
	/* The function; what it appends to @p result is returned. An error of its own is passed on. It may
	 * use malloc(); it takes no lock that another thread of this process may hold. */
	struct ot_err *(*run)(void *arg, struct ot_buf *result);
	void *arg;
	const int *fds; /* that the child keeps, under the same numbers; at most VP_CONFINED_FDS */
	unsigned nfds;
	struct vp_confined_limits limits;
	/* Called several times a second while the child runs; NULL: never. */
	void (*waiting)(void *arg);
	void *waiting_arg;
};

/** Run the job and wait for it; *ret is an initialised, empty buffer. LIMIT: it needed more than a limit.
 * BAD_DATA: it crashed, made a system call that it may not, or gave no whole result. UNSUPPORTED: this host
 * can't confine a process. Else the function's own error. All end with the child gone. */
OT_MUST_CHECK struct ot_err *vp_confined_run(const struct vp_confined_job *job, struct ot_buf *ret);

/** For the function: end the child because memory ran out, where a library gives no other way. */
OT_NORETURN void vp_confined_no_memory(void);

#endif
