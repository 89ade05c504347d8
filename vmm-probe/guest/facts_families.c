/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of processes, their memory and their pages, by BTF and symbols. */
#include "vmm-probe/guest/facts_families.h"

#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/process/processes.h"

#define PAGE_STRUCT_MAX 256u

/* Newer kernels have renamed it. Its lowest bit is the same (folio_flags(), include/linux/page-flags.h). */
static bool find_page_head(const struct vp_btf *btf, uint32_t *ret)
{
	return vp_btf_member_offset(btf, "page", "compound_head", ret, NULL) ||
	       vp_btf_member_offset(btf, "page", "compound_info", ret, NULL);
}

void vp_facts_families(struct vp_guest *guest, struct vp_family_facts *ret)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct vp_family_facts f = { .vmemmap = vp_guest_vmemmap(guest) };
	const struct {
		const char *type, *path;
		uint32_t *offset;
	} members[] = {
		{ "task_struct", "tasks.next", &f.task_tasks },
		{ "mm_struct", "pgd", &f.mm_pgd },
		{ "mm_struct", "exe_file", &f.mm_exe_file },
		{ "mm_struct", "start_stack", &f.mm_start_stack },
		{ "page", "mapping", &f.page_mapping },
	};
	uint64_t size = btf ? vp_btf_sizeof(btf, "page") : 0;
	struct vp_gva init_task;

	*ret = (struct vp_family_facts){ 0 };
	if (!f.vmemmap || !size || size > PAGE_STRUCT_MAX || !find_page_head(btf, &f.page_head))
		return;
	for (size_t i = 0; i < OT_ARRAY_SIZE(members); i++)
		if (!vp_btf_member_offset(btf, members[i].type, members[i].path, members[i].offset, NULL))
			return;
	if (!vp_btf_member_offset(btf, "page", "index", &f.page_index, NULL) &&
	    !vp_btf_member_offset(btf, "folio", "index", &f.page_index, NULL))
		f.page_index = VP_NO_OFFSET;
	struct ot_err *err = vp_guest_symbol(guest, "init_task", &init_task);

	ot_err_destroy(err);
	if (err)
		return;
	f.page_size = (uint32_t)size;
	f.init_task = init_task.v;
	*ret = f;
}
