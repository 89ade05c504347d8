/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by guest/process/. */
#ifndef VP_GUEST_PROCESS_INTERNAL_H
#define VP_GUEST_PROCESS_INTERNAL_H

#include "vmm-probe/guest/guest.h"
#include "vmm-probe/guest/process/layout.h"
#include "vmm-probe/guest/process/processes.h"

struct vp_processes {
	struct vp_guest *guest;
	struct vp_process_layout l;
	uint64_t init_pid_ns; /* address */
	uint64_t vmemmap; /* address of the first struct page; 0: unknown, and no file's pages can be read */
	unsigned torn; /* numbers in a row at which vp_guest_process_next() met changes with each attempt */
};

/* Read the kernel's memory. Translations are cached until vp_kernel_forget(). */
OT_MUST_CHECK struct ot_err *vp_kernel_read(struct vp_processes *ps, uint64_t gva, void *dst, size_t len);
OT_MUST_CHECK struct ot_err *vp_kernel_u64(struct vp_processes *ps, uint64_t gva, uint64_t *ret);
OT_MUST_CHECK struct ot_err *vp_kernel_u32(struct vp_processes *ps, uint64_t gva, uint32_t *ret);

/* BUSY: "it changed while it was read". */
OT_MUST_CHECK struct ot_err *vp_process_torn(void);

/* Attempts at a walk that meets changes; each takes a fraction of a millisecond. */
#define VP_PROCESS_TRIES 20

/* Begin attempt number @p nth: forget translations, and free the error of the one before. False: *err is from
 * the last attempt, or is not caused by a change of the guest's. For the head of a loop. */
bool vp_process_again(struct vp_processes *ps, unsigned nth, struct ot_err **err);

#endif
