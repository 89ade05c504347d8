/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that the kernel maps into each process, for clock_gettime(2) and the like: an ELF image without a
 * file. The kernel has it in its own memory, once for all processes, and records the image of each process
 * (mm_context_t.vdso_image, struct vdso_image). So it is read there: completely, independent of the pages
 * that a process has touched, and unforgeable by processes. The same pages are mapped into processes.
 */
#ifndef VP_GUEST_PROCESS_VDSO_H
#define VP_GUEST_PROCESS_VDSO_H

#include "vmm-probe/guest/process/files.h"

#define VP_VDSO_MAX  (64u << 10) /* bytes; Linux 6.12 has 8 KiB */
#define VP_VDSO_NAME "[vdso]"    /* as /proc/PID/maps has it */

/** Describe the image of @p process as a file: its id is the image's, the same in all processes that have it.
 * *ret_found false: this kernel does not record it, or the record is invalid. The caller deinits *ret if it
 * was found. Only memory can be missing. */
OT_MUST_CHECK struct ot_err *vp_vdso_find(struct vp_processes *ps, const struct vp_guest_process *process,
					  struct vp_file *ret, bool *ret_found);

/** Copy page number @p index of the image at address @p vdso (struct vp_file) into @p dst, VP_PAGE_SIZE
 * bytes. FAULT: it is not there. */
OT_MUST_CHECK struct ot_err *vp_vdso_read(struct vp_processes *ps, uint64_t vdso, uint64_t index, void *dst);

#endif
