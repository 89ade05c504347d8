/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VP_INJECT_INTERNAL_H
#define VP_INJECT_INTERNAL_H

#include "vmm-probe/hook/control.h"
#include "vmm-probe/inject/inject.h"

/* A file that the target has mapped. */
struct vp_mapped {
	uint64_t start,
	    end; /* of the part that begins at the file's first byte: where its addresses count from */
	char path[PATH_MAX]; /* as the target sees it */
};

struct vp_target {
	pid_t pid;
	int pidfd, mem;
	uid_t uid;
	char exe[PATH_MAX];
	char name[64];      /* of its guest, or "" */
	char confined[128]; /* by a MAC profile that is enforced, or "" */
	unsigned nvcpus;
	struct vp_mapped libc;
	uint64_t dlopen, restorer; /* addresses in it */
};

/** Look at process @p pid without touching it. As vp_inject_attach() for errors. */
OT_MUST_CHECK struct ot_err *vp_target_open(pid_t pid, struct vp_target *ret);
void vp_target_close(struct vp_target *t);

/** The part of the file that begins at its first byte, of the mapping number @p n whose file name ends with
 * @p name
 * ("/libc.so.6"). NOT_FOUND. */
OT_MUST_CHECK struct ot_err *vp_remote_find(pid_t pid, const char *name, unsigned n, struct vp_mapped *ret);
/** Address in the target of a dynamic symbol of a file that it has mapped. */
OT_MUST_CHECK struct ot_err *vp_remote_symbol(pid_t pid, const struct vp_mapped *m, const char *symbol,
					      uint64_t *ret);
/** Address in the target of @p len bytes of code in it. */
OT_MUST_CHECK struct ot_err *vp_remote_code(pid_t pid, const struct vp_mapped *m, const void *code,
					    size_t len, uint64_t *ret);

/** Have the target's main thread call dlopen(@p path) at its next safe point, and go on. Returns when it was
 * let go; the call may not be over. */
OT_MUST_CHECK struct ot_err *vp_frame_call(const struct vp_target *t, const char *path,
					   uint64_t *ret_stop_ns);

#endif
