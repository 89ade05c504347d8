/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The two structures in which kernels keep a process's mappings. */
#ifndef VP_GUEST_PROCESS_VMAS_INTERNAL_H
#define VP_GUEST_PROCESS_VMAS_INTERNAL_H

#include "vmm-probe/guest/process/internal.h"
#include "vmm-probe/guest/process/vmas.h"

/* Append the struct vm_area_struct at @p at. BUSY: it is not behind the one before. BAD_DATA: too many. */
OT_MUST_CHECK struct ot_err *vp_vma_add(struct vp_processes *ps, uint64_t at, struct vp_vmas *vmas);

/* Append those of the maple tree whose root pointer is at @p root. */
OT_MUST_CHECK struct ot_err *vp_maple_walk(struct vp_processes *ps, uint64_t root, struct vp_vmas *vmas);

#endif
