/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The mappings of a process: the kernel's struct vm_area_struct. */
#ifndef VP_GUEST_PROCESS_VMAS_H
#define VP_GUEST_PROCESS_VMAS_H

#include <stddef.h>

#include "vmm-probe/guest/process/processes.h"

#define VP_VMAS_MAX 65536u /* the kernel's own default limit is 65,530 */

enum vp_vma_flags {
	VP_VMA_READ = 1,
	VP_VMA_WRITE = 2,
	VP_VMA_EXEC = 4,
	VP_VMA_SHARED = 8,
};

struct vp_vma {
	uint64_t start, end; /* [start, end), multiples of the page size */
	uint64_t offset;     /* of start in the file, bytes */
	uint64_t flags;      /* enum vp_vma_flags; the kernel's other bits above */
	uint64_t file;       /* address of its struct file; 0: none */
};

struct vp_near;

struct vp_vmas {
	struct vp_vma *items; /* owned; by address, disjoint */
	size_t count, cap;
	uint64_t vdso;        /* where the kernel has mapped its own code; 0: nowhere */
	struct vp_near *near; /* of the attempt that reads them */
};

/** All mappings of @p process. They are almost a snapshot: each is complete, and their number is right. BUSY:
 * each attempt met a change. NOT_FOUND: it has no memory (any more). BAD_DATA: more than VP_VMAS_MAX. The
 * caller deinits *ret in any case. */
OT_MUST_CHECK struct ot_err *vp_vmas_read(struct vp_processes *ps, const struct vp_guest_process *process,
					  struct vp_vmas *ret);
/** Words that most changes of the mappings change, as one number. False: they can't be read. */
bool vp_vmas_mark(struct vp_processes *ps, const struct vp_guest_process *process, uint64_t *ret);
void vp_vmas_deinit(struct vp_vmas *vmas);

#endif
