/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that a process maps: their identities and paths. */
#ifndef VP_GUEST_PROCESS_FILES_H
#define VP_GUEST_PROCESS_FILES_H

#include <stddef.h>

#include "vmm-probe/guest/process/processes.h"

#define VP_PATH_MAX 4096u /* PATH_MAX, with its NUL */

/* A file, whatever its path. On overlayfs it is the layer's, so that containers of one image have the same.
 * An inode that is used again has another generation, where the file system has those. */
struct vp_file_id {
	uint64_t mapping; /* address of its struct address_space, which holds its pages */
	uint64_t inode;
	uint32_t dev; /* the kernel's dev_t: major << 20 | minor */
	uint32_t generation;
};

struct vp_file {
	struct vp_file_id id;
	uint64_t size; /* bytes */
	uint64_t vdso; /* the address of the kernel's image (vdso.h) that it is; 0: it is a file */
	bool deleted;  /* it has no name any more */
	/* Owned. As the mapping process sees it, but from the root of all mounts on: a container's path
	 * begins in its guest's host tree only if the kernel shows it so. The guest's bytes, NUL-terminated,
	 * never empty. */
	char *path;
};

bool vp_file_is_same(const struct vp_file_id *a, const struct vp_file_id *b);

struct vp_near;

/** The file of the struct file at @p at (struct vp_vma). @p near (internal.h) is for files that are read in a
 * row; NULL: it is read alone. BUSY: each attempt met a change. BAD_DATA, LIMIT: a path without end. */
OT_MUST_CHECK struct ot_err *vp_file_read(struct vp_processes *ps, struct vp_near *near, uint64_t at,
					  struct vp_file *ret);
void vp_file_deinit(struct vp_file *file);

/** Is there still a file with that identity at its address? Its memory may have been used again. */
bool vp_file_is_there(struct vp_processes *ps, const struct vp_file_id *id);

/* A place among the guest's directories: addresses of a struct dentry and of the struct vfsmount that it is
 * seen in. */
struct vp_path {
	uint64_t mnt, dentry;
};

/** The path of @p at as seen from the root @p top, in @p path; *ret NULL: it is not below that. BUSY: a
 * change was met. BAD_DATA, LIMIT: a path without end. */
OT_MUST_CHECK struct ot_err *vp_path_read(struct vp_processes *ps, const struct vp_path *at,
					  const struct vp_path *top, char path[VP_PATH_MAX],
					  const char **ret);

/** The last part of a path; never empty. Borrowed from @p path. */
const char *vp_path_name(const char *path);

#endif
