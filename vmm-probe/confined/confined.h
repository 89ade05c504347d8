/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Running a function on hostile input in a child process that has no rights, so that a fault in it harms
 * nothing else.
 *
 * The child is forked, so the function sees this process's memory as it was, except that shared memory
 * (a guest's RAM, an engine's buffers) is unmapped. It has only the descriptors that are passed to it, and
 * can only read them, even if they were opened for writing. It can manage its own private memory without
 * making any of it executable, and end; a file that it tries to open does not exist for it, and any other
 * system call kills it. It has no capabilities, gains none, dies with this process, and its memory and time
 * are limited; root's has nobody's user id. None of this needs root or a namespace. What it returns is bytes,
 * which its caller checks as it checks a guest's.
 *
 * It requests other operations of this process (vp_confined_ask()), which serves them if the job has a
 * function for that.
 */
#ifndef VP_CONFINED_CONFINED_H
#define VP_CONFINED_CONFINED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define VP_CONFINED_FDS      2048u
#define VP_CONFINED_QUESTION 256u          /* bytes of a question at most */
#define VP_CONFINED_ANSWER   (64u * 1024u) /* bytes of an answer at most */

struct vp_confined_limits {
	uint32_t memory_mib; /* that the function may map or allocate */
	uint32_t cpu_s;      /* of processor time */
	uint32_t wall_s;     /* until the whole result has arrived */
	uint32_t result_mib;
};

struct vp_confined_job {
	const char *what; /* the name of the input; begins each error's message: "/boot/vmlinux" */
	/* The function's own errors name the input, so `what` begins only those about the child. */
	bool names_itself;
	/* Its own errors keep the codes BAD_DATA, FAULT, LIMIT, NOT_FOUND and UNSUPPORTED, and of those that
	 * would mean something of this process the ones in this set (1 << code); others become BAD_DATA. */
	uint32_t codes;
	/* The function; its output to @p result, a buffer of limits.result_mib, is returned. An error of its
	 * own is passed on. It may use malloc(); it takes no lock that another thread of this process may
	 * hold. */
	struct ot_err *(*run)(void *arg, struct ot_buf *result);
	void *arg;
	const int *fds; /* that the child keeps, under the same numbers; at most VP_CONFINED_FDS */
	unsigned nfds;
	struct vp_confined_limits limits;
	/* Serves the function's requests, in this process: a hostile question is a hostile input as the
	 * result is. Appends at most VP_CONFINED_ANSWER bytes to @p ret, or returns the error that the
	 * function gets. NULL: it may make no requests. */
	struct ot_err *(*answer)(void *arg, const void *question, size_t len, struct ot_buf *ret);
	void *answer_arg;
	/* Called several times a second while the child runs; NULL: never. */
	void (*waiting)(void *arg);
	void *waiting_arg;
};

/* The function's result: memory that the child wrote before it ended, so it can't change. */
struct vp_confined_result {
	const uint8_t *data; /* aligned to a page; a NUL stands behind it */
	size_t len;
	size_t mapped; /* private */
};

/** Run the job and wait for it; *ret is to be freed by vp_confined_result_deinit(). LIMIT: it needed more
 * than a limit. BAD_DATA: it crashed, made a system call that it may not, or gave no whole result.
 * UNSUPPORTED: this host can't confine a process. Else the function's own error. All end with the child gone.
 */
OT_MUST_CHECK struct ot_err *vp_confined_run(const struct vp_confined_job *job,
					     struct vp_confined_result *ret);

/** Zeroes are fine. */
void vp_confined_result_deinit(struct vp_confined_result *result);

/** For the function: ask the process that runs the job, and wait. @p question has at most
 * VP_CONFINED_QUESTION bytes, the answer exactly @p answer_len. Errors are the job's answer()'s; BAD_DATA:
 * the answer has another length. */
OT_MUST_CHECK struct ot_err *vp_confined_ask(const void *question, size_t len, void *answer,
					     size_t answer_len);

/** For the function: end the child because memory ran out, where a library allows no other way. */
OT_NORETURN void vp_confined_no_memory(void);

#endif
