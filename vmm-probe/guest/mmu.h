/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A software walk of the guest's page tables, whose format is a struct vp_paging. Tables are
 * hostile input: a walk reads at most five entries; an entry that points outside RAM is a FAULT. Each struct
 * vp_mmu has a small cache of tables and translations, and may be used by one thread at a time.
 */
#ifndef VP_GUEST_MMU_H
#define VP_GUEST_MMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/arch/paging.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/phys.h"

#define VP_MMU_TLB_SIZE 256
#define VP_MMU_LEVELS   5
#define VP_MMU_TABLES   4 /* of a level */

struct vp_mmu_tlb {
	uint64_t page;  /* virtual address of the 4 KiB page */
	uint64_t epoch; /* in which it was filled; of another one, the slot is empty */
	uint64_t gpa;
	uint64_t size; /* of the guest's page around it */
};

/* A copy of a table that one of the last walks used. The kernel's objects, its table of pages and its image
 * are far from each other: with one copy for each level, walks that alternate read each table again. */
struct vp_mmu_table {
	uint64_t gpa; /* | 1; 0: none */
	uint64_t entries[512];
};

struct vp_mmu {
	const struct vp_paging *paging;
	struct vp_gpa root; /* the top table, page-aligned */
	unsigned int levels;
	uint64_t epoch; /* ends when the cache is invalidated; from 1 on */
	struct vp_mmu_table tables[VP_MMU_LEVELS][VP_MMU_TABLES]; /* lowest level first */
	unsigned int turn[VP_MMU_LEVELS];                         /* the table that is replaced next */
	struct vp_mmu_tlb tlb[VP_MMU_TLB_SIZE];
};

/** @p paging is static; @p levels is what that format can have, at most VP_MMU_LEVELS. Bits of @p root that
 * are no address are ignored. */
void vp_mmu_init(struct vp_mmu *mmu, const struct vp_paging *paging, struct vp_gpa root, unsigned int levels);

/** Invalidate the cache (the guest changes its tables while it runs). */
void vp_mmu_flush(struct vp_mmu *mmu);

/** Translate one address. *ret_page_size (may be NULL) is the size of the guest's page around it.
 * FAULT: it is not canonical or not mapped. Whether the page is RAM is not checked. */
OT_MUST_CHECK struct ot_err *vp_mmu_translate(const struct vp_phys *phys, struct vp_mmu *mmu,
					      struct vp_gva gva, struct vp_gpa *ret_gpa,
					      uint64_t *ret_page_size);

/** Is @p gva mapped and executable (no level of the tables forbids it)? */
bool vp_mmu_is_executable(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva);

/** Read @p len bytes, across pages. FAULT (with the address) at the first one that is not mapped RAM; @p dst
 * is then undefined. */
OT_MUST_CHECK struct ot_err *vp_mmu_read(const struct vp_phys *phys, struct vp_mmu *mmu, struct vp_gva gva,
					 void *dst, size_t len);

/** The first mapped range in [from, end): [*ret_start, *ret_end), cut at @p end. It may consist of pages of
 * any size at any physical address. Absent tables are skipped whole, so a sparse gigabyte costs little.
 * NOT_FOUND: nothing there is mapped. */
OT_MUST_CHECK struct ot_err *vp_mmu_next_mapped(const struct vp_phys *phys, struct vp_mmu *mmu,
						struct vp_gva from, struct vp_gva end,
						struct vp_gva *ret_start, struct vp_gva *ret_end);

#endif
