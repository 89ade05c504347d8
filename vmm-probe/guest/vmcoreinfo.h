/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vmcoreinfo page: one page of text that a Linux kernel keeps for crash dumps, page-aligned and
 * starting with "OSRELEASE=". It tells the build id, where KASLR put the kernel, and the kernel's own
 * page-table root. Old copies may lie about in RAM (an earlier kernel, a tool's page cache): the caller
 * believes one only after its root leads to a kernel (vp_kernel_find() does that).
 */
#ifndef VP_GUEST_VMCOREINFO_H
#define VP_GUEST_VMCOREINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/guest/addr.h"
#include "vmm-probe/guest/phys.h"

#define VP_BUILD_ID_MAX 32
#define VP_RELEASE_MAX  128

struct vp_vmcoreinfo {
	struct vp_gpa gpa; /* where the page was */
	char release[VP_RELEASE_MAX];
	uint8_t build_id[VP_BUILD_ID_MAX];
	size_t build_id_len; /* 0: not told */
	uint64_t phys_base;  /* physical address of 0xffffffff80000000; may be "negative" */
	bool have_phys_base;
	bool l5;                /* 5-level paging is on */
	uint64_t kernel_offset; /* KASLR shift */
	uint64_t sme_mask;      /* not 0: memory is encrypted */
	/* Virtual addresses, 0: not told. */
	uint64_t stext, init_top_pgt;
	uint64_t kallsyms_token_table;
};

/** Parse @p len bytes of text (NUL or the end of the page ends it). BAD_DATA when it isn't vmcoreinfo. */
OT_MUST_CHECK struct ot_err *vp_vmcoreinfo_parse(const char *text, size_t len, struct vp_vmcoreinfo *ret);

/** The next vmcoreinfo page at or behind @p from, over populated RAM. *budget is in bytes of RAM looked
 * at and is lowered by what was spent. NOT_FOUND when none is left, LIMIT when the budget ran out. */
OT_MUST_CHECK struct ot_err *vp_vmcoreinfo_find(const struct vp_phys *phys, struct vp_gpa from,
						uint64_t *budget, struct vp_vmcoreinfo *ret);

#endif
