/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The vmcoreinfo page: a page of text that a Linux kernel keeps for crash dumps (kernel/vmcore_info.c,
 * formerly crash_core.c), page-aligned and starting with "OSRELEASE=". It contains the build id, the KASLR
 * base and the kernel's own page-table root. RAM may contain stale copies (of an earlier kernel, or a file in
 * the page cache): a caller trusts one only if its root leads to a kernel (vp_kernel_find() checks that).
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
	struct vp_gpa gpa; /* of the page */
	char release[VP_RELEASE_MAX];
	uint8_t build_id[VP_BUILD_ID_MAX];
	size_t build_id_len; /* 0: absent */
	uint64_t phys_base;  /* physical address of 0xffffffff80000000; may be "negative" */
	bool have_phys_base;
	bool l5;                /* 5-level paging is on */
	uint64_t kernel_offset; /* KASLR shift */
	uint64_t sme_mask;      /* not 0: memory is encrypted */
	/* Virtual addresses; 0: absent. */
	uint64_t stext, init_top_pgt;
	uint64_t kallsyms_token_table;
};

/** Parse text of at most @p len bytes, which a NUL may end earlier. BAD_DATA: not vmcoreinfo. */
OT_MUST_CHECK struct ot_err *vp_vmcoreinfo_parse(const char *text, size_t len, struct vp_vmcoreinfo *ret);

/** Find the next vmcoreinfo page at or after @p from in populated RAM. *budget is the number of bytes that
 * may be scanned; it is decremented. NOT_FOUND: none is left. LIMIT: the budget is exhausted. */
OT_MUST_CHECK struct ot_err *vp_vmcoreinfo_find(const struct vp_phys *phys, struct vp_gpa from,
						uint64_t *budget, struct vp_vmcoreinfo *ret);

#endif
