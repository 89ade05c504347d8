/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that a process has mapped, but that is not in its page table yet. Hit path. */
#ifndef VP_ENGINE_HIT_UNTOUCHED_H
#define VP_ENGINE_HIT_UNTOUCHED_H

#include "vmm-probe/engine/hit/hit_session.h"

enum vp_untouched {
	VP_UNTOUCHED_READ,
	VP_UNTOUCHED_NONE,    /* the process's own read would fault, or its result is unknown */
	VP_UNTOUCHED_CHANGED, /* page, file or mapping changed while it was read */
};

/**
 * Copy to @p dst the memory that the process whose top page table is at @p root would read at @p gva, where
 * its page table has no entry, in a mapping to which it has never written: the page in the guest's page cache
 * of a file; zeros of private memory without a file. @p len bytes, all in one page. The process must be the
 * running one. With READ, mapping, file and page were the same before and after the copy.
 */
enum vp_untouched vp_load_untouched(struct vp_vcpu_session *v, uint64_t root, uint64_t gva, void *dst,
				    uint64_t len);

/** Is @p mm, a struct mm_struct, the one whose page table the vCPU uses? They differ while the kernel
 * switches tasks, and where a thread of the kernel's has borrowed one. */
bool vp_runs_mm(struct vp_vcpu_session *v, uint64_t mm);
/** The struct vm_area_struct of @p gva in that memory. False: none was found. */
bool vp_find_vma(struct vp_vcpu_session *v, uint64_t mm, uint64_t gva, uint64_t *ret);

#endif
