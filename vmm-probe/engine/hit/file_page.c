/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file of the page that a process executes. The kernel's struct page, found by the page's address, points
 * to the file and has the offset in it. In a group of pages (a large folio) the first one does, to which the
 * others point. Bounded loads only; with any content of guest memory the worst result is a hit elsewhere.
 */
#include "vmm-probe/arch/native.h"
#include "vmm-probe/engine/hit/task.h"
#include "vmm-probe/engine/hit/walk.h"

#define PAGE_SHIFT vp_native_paging.page_shift
#define IS_TAIL    1u         /* of page.compound_head, include/linux/page-flags.h */
#define GROUP_MAX  (1u << 18) /* pages: 1 GiB */

static bool load_word(struct vp_vcpu_session *v, uint64_t page, uint32_t offset, uint64_t *ret)
{
	return vp_load_u64(v, page + offset, ret);
}

/* The first page of @page's group, and the index of @page in it. */
static bool find_head(struct vp_vcpu_session *v, uint64_t page, uint64_t *ret_head, uint64_t *ret_nth)
{
	const struct vp_family_facts *f = &v->es->facts.families;
	uint64_t head;

	*ret_head = page;
	*ret_nth = 0;
	if (!load_word(v, page, f->page_head, &head))
		return false;
	if (!(head & IS_TAIL))
		return true;
	*ret_head = head - IS_TAIL;
	*ret_nth = (page - *ret_head) / f->page_size;
	return *ret_head < page && *ret_nth < GROUP_MAX;
}

bool vp_in_file(struct vp_vcpu_session *v, uint64_t pc, uint64_t file, uint64_t at)
{
	const struct vp_family_facts *f = &v->es->facts.families;
	uint64_t gpa, head, nth, mapping, index;

	if (!f->page_size || f->page_index == VP_NO_OFFSET || !vp_user_gpa(v, pc, &gpa) ||
	    !find_head(v, f->vmemmap + (gpa >> PAGE_SHIFT) * f->page_size, &head, &nth))
		return false;
	return load_word(v, head, f->page_mapping, &mapping) && mapping == file &&
	       load_word(v, head, f->page_index, &index) && index + nth == at >> PAGE_SHIFT;
}
