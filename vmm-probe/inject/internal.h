/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the injector's files: the target, its mapped files, the call. */
#ifndef VP_INJECT_INTERNAL_H
#define VP_INJECT_INTERNAL_H

#include "vmm-probe/hook/control.h"
#include "vmm-probe/inject/inject.h"

/* A file that the target has mapped. */
struct vp_mapped {
	uint64_t start, end; /* of the mapping of the file's first byte, which is its base address */
	char path[PATH_MAX]; /* in the target's view of the file system */
};

struct vp_target {
	pid_t pid;
	int pidfd, mem;
	uid_t uid;
	char exe[PATH_MAX];
	char name[64];      /* of its guest, or "" */
	char confined[128]; /* the enforced MAC profile, or "" */
	unsigned nvcpus;
	struct vp_mapped libc;
	uint64_t dlopen, restorer; /* addresses in it */
};

/** Check process @p pid without touching it. Errors as vp_inject_attach(). */
OT_MUST_CHECK struct ot_err *vp_target_open(pid_t pid, struct vp_target *ret);
void vp_target_close(struct vp_target *t);

/** Find mapping number @p n of a file's first byte, of files whose path ends with @p name ("/libc.so.6").
 * NOT_FOUND. */
OT_MUST_CHECK struct ot_err *vp_remote_find(pid_t pid, const char *name, unsigned n, struct vp_mapped *ret);
/** Address in the target of a dynamic symbol of a file that it has mapped. */
OT_MUST_CHECK struct ot_err *vp_remote_symbol(pid_t pid, const struct vp_mapped *m, const char *symbol,
					      uint64_t *ret);
/** Address in the target of @p len bytes of code in the file. */
OT_MUST_CHECK struct ot_err *vp_remote_code(pid_t pid, const struct vp_mapped *m, const void *code,
					    size_t len, uint64_t *ret);

/** Make the target's main thread call dlopen(@p path) at its next safe point, and then continue. Returns
 * after detaching; the call may not have returned yet. */
OT_MUST_CHECK struct ot_err *vp_frame_call(const struct vp_target *t, const char *path,
					   uint64_t *ret_stop_ns);

#endif
