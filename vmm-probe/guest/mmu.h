/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's page tables, walked by hand: 4 and 5 levels, pages of 4 KiB, 2 MiB and 1 GiB.
 * Tables are hostile input: a walk reads at most five entries, an entry that leads outside RAM is a
 * FAULT. A small cache of tables and translations belongs to each struct vp_mmu; one is for one thread.
 */
#ifndef VP_GUEST_MMU_H
#define VP_GUEST_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/phys.h"

#define VP_MMU_TLB_SIZE 256

struct vp_mmu_tlb {
	uint64_t page; /* virtual address of the 4 KiB page, | 1 when the slot is used */
	uint64_t gpa;
	uint64_t size; /* of the guest's page that holds it */
};

/* A copy of the table that the last walk used at one level. */
struct vp_mmu_table {
	uint64_t gpa; /* | 1 when there is one */
	uint64_t entries[512];
};

struct vp_mmu {
	struct vp_gpa root; /* the top table, page-aligned */
	unsigned int levels;
	struct vp_mmu_table tables[5]; /* lowest level first */
	struct vp_mmu_tlb tlb[VP_MMU_TLB_SIZE];
};

/** @p levels is 4 or 5. */
void vp_mmu_init(struct vp_mmu *mmu, struct vp_gpa root, unsigned int levels);

/** Forget the cached tables and translations (the guest changes its tables while we look). */
void vp_mmu_flush(struct vp_mmu *mmu);

/** Translate one address. *ret_page_size (may be NULL) is the size of the guest's page around it.
 * FAULT when it is not canonical or not mapped. Does not check that the page is RAM. */
OT_MUST_CHECK struct ot_err *vp_mmu_translate(const struct vp_phys *phys, struct vp_mmu *mmu,
					      struct vp_gva gva, struct vp_gpa *ret_gpa,
					      uint64_t *ret_page_size);

/** True when @p gva is mapped and code may be run there: no level of the tables has the NX bit. */
bool vp_mmu_is_executable(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva);

/** Read @p len bytes, crossing pages. FAULT (with the address) at the first that is not mapped RAM;
 * then @p dst holds something undefined. */
OT_MUST_CHECK struct ot_err *vp_mmu_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva,
					 void *dst, size_t len);

/** The first mapped stretch in [from, end): [*ret_start, *ret_end), cut at @p end. Absent tables are
 * skipped whole, so that a sparse gigabyte costs little. A run counts as one stretch whatever its page
 * sizes and wherever its pages are. NOT_FOUND when nothing there is mapped. */
OT_MUST_CHECK struct ot_err *vp_mmu_next_mapped(const struct vp_phys *phys, struct vp_mmu *mmu,
						struct vp_gva from, struct vp_gva end,
						struct vp_gva *ret_start, struct vp_gva *ret_end);

#endif
