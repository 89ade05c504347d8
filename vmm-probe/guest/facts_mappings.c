/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings, files and their pages, in the layout that the operator's process also uses. */
#include "vmm-probe/guest/facts_mappings.h"

#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/process/layout.h"
#include "vmm-probe/guest/process/processes.h"

/* Kernels before the maple tree have the mappings in a list and in a red-black tree; in the latter a mapping
 * is found in a few steps. */
static bool find_tree(const struct vp_btf *btf, const struct vp_process_layout *l,
		      struct vp_mapping_facts *ret)
{
	ret->mm_tree = l->mm_tree;
	ret->leaf = l->leaf;
	ret->range = l->range;
	ret->maple_leaf = (uint32_t)l->maple_leaf;
	ret->maple_range = (uint32_t)l->maple_range;
	ret->maple_arange = (uint32_t)l->maple_arange;
	if (l->mm_tree != VP_NO_MEMBER)
		return true;
	return vp_btf_member_offset(btf, "mm_struct", "mm_rb.rb_node", &ret->mm_rb, NULL) &&
	       vp_btf_member_offset(btf, "vm_area_struct", "vm_rb", &ret->vma_rb, NULL) &&
	       vp_btf_member_offset(btf, "rb_node", "rb_left", &ret->rb_left, NULL) &&
	       vp_btf_member_offset(btf, "rb_node", "rb_right", &ret->rb_right, NULL);
}

static void take_layout(const struct vp_process_layout *l, struct vp_mapping_facts *ret)
{
	ret->mm_pgd = l->mm_pgd;
	ret->vma_start = l->vma_start;
	ret->vma_end = l->vma_end;
	ret->vma_flags = l->vma_flags;
	ret->vma_pgoff = l->vma_pgoff;
	ret->vma_file = l->vma_file;
	ret->file_mapping = l->file_mapping;
	ret->mapping_pages = l->mapping_pages;
	ret->xa_shift = l->xa_shift;
	ret->xa_slots = l->xa_slots;
	ret->xa_nslots = l->xa_nslots;
	ret->folio_flags = l->folio_flags;
	ret->folio_mapping = l->folio_mapping;
	ret->folio_index = l->folio_index;
	ret->folio_uptodate = (uint32_t)l->page_uptodate;
	ret->page_size = l->page_size;
}

void vp_facts_mappings(struct vp_guest *guest, struct vp_mapping_facts *ret)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct vp_mapping_facts f = { 0 };
	struct vp_process_layout l;
	struct ot_err *err = vp_process_layout_read(btf, &l);

	*ret = f;
	ot_err_destroy(err);
	if (err || l.page_uptodate < 0 || !find_tree(btf, &l, &f) ||
	    !vp_btf_member_offset(btf, "vm_area_struct", "vm_ops", &f.vma_ops, NULL) ||
	    !vp_btf_member_offset(btf, "vm_area_struct", "anon_vma", &f.vma_anon, NULL))
		return;
	take_layout(&l, &f);
	/* Empty in a kernel that was built without userfaultfd(2). */
	if (!vp_btf_member_offset(btf, "vm_area_struct", "vm_userfaultfd_ctx.ctx", &f.vma_uffd, NULL))
		f.vma_uffd = VP_NO_OFFSET;
	f.vmemmap = vp_guest_vmemmap(guest);
	*ret = f;
}
