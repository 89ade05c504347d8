/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by guest/process/. */
#ifndef VP_GUEST_PROCESS_INTERNAL_H
#define VP_GUEST_PROCESS_INTERNAL_H

#include "base/map.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/process/layout.h"
#include "vmm-probe/guest/process/processes.h"
#include "vmm-probe/guest/process/xarray.h"

/* What is kept in a walk over many processes (vp_processes_keep()): paths by a file's identity, dentry and
 * mount.
 */
struct vp_known {
	struct ot_map map;
	struct ot_arena arena; /* which has the paths */
	size_t bytes;
	uint64_t sb;                /* the file system of the last file, a struct super_block … */
	uint32_t dev;               /* … and its number */
	struct vp_xarray_leaf pids; /* where the last process was found */
	bool kept;
};

struct vp_processes {
	struct vp_guest *guest;
	struct vp_process_layout l;
	uint64_t init_pid_ns; /* address */
	uint64_t vmemmap; /* address of the first struct page; 0: unknown, and no file's pages can be read */
	struct vp_known known;
	unsigned torn; /* numbers in a row at which vp_guest_process_next() met changes with each attempt */
};

/* Read the kernel's memory. Translations are cached until vp_kernel_forget(). */
OT_MUST_CHECK struct ot_err *vp_kernel_read(struct vp_processes *ps, uint64_t gva, void *dst, size_t len);
OT_MUST_CHECK struct ot_err *vp_kernel_u64(struct vp_processes *ps, uint64_t gva, uint64_t *ret);
OT_MUST_CHECK struct ot_err *vp_kernel_u32(struct vp_processes *ps, uint64_t gva, uint32_t *ret);

/* A member of one of the kernel's structures, and where it goes. */
struct vp_member {
	uint32_t offset, size; /* VP_NO_MEMBER: this kernel has none, and *to is left alone */
	void *to;
};

#define VP_MEMBER(offset, to) ((struct vp_member){ (offset), sizeof(*(to)), (to) })

/* Read @p n members of the structure at @p at: at once, if they are near each other. Each read of a guest is
 * a system call. */
OT_MUST_CHECK struct ot_err *vp_kernel_members(struct vp_processes *ps, uint64_t at,
					       const struct vp_member *members, size_t n);

/* A copy of the page that the last structure was in. */
struct vp_near {
	uint64_t page; /* its address; 0: none */
	uint8_t bytes[VP_PAGE_SIZE];
};

/* The same for structures of one kind that are read in a row: the kernel gives them memory near each other,
 * so that one read has several. What is read so is not newer than the first that was read of its page: @p
 * near is for one attempt. NULL: each is read alone. */
OT_MUST_CHECK struct ot_err *vp_near_members(struct vp_processes *ps, struct vp_near *near, uint64_t at,
					     const struct vp_member *members, size_t n);

/* BUSY: "it changed while it was read". */
OT_MUST_CHECK struct ot_err *vp_process_torn(void);

void vp_paths_init(struct vp_known *known);
void vp_paths_deinit(struct vp_known *known);

/* Attempts at a walk that meets changes; each takes a fraction of a millisecond. */
#define VP_PROCESS_TRIES 20

/* Begin attempt number @p nth: forget translations and the table of PIDs, unless it is the first in a walk
 * that keeps them, and free the error of the one before. False: *err is from the last attempt, or is not
 * caused by a change of the guest's. For the head of a loop. */
bool vp_process_again(struct vp_processes *ps, unsigned nth, struct ot_err **err);

#endif
