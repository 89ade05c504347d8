/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading the layout. The structures that a kernel has determine how it is read, never its version. */
#include "vmm-probe/guest/process/layout.h"

#include <stddef.h>

#include "base/compiler.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/process/processes.h"

struct member {
	const char *type, *path;
	size_t field; /* in struct vp_process_layout */
};

#define MEMBER(t, p, f)                                     \
	{                                                   \
		t, p, offsetof(struct vp_process_layout, f) \
	}

static const struct member indispensable[] = {
	MEMBER("task_struct", "tgid", task_tgid),
	MEMBER("task_struct", "start_time", task_start_time),
	MEMBER("task_struct", "comm", task_comm),
	MEMBER("task_struct", "mm", task_mm),
	MEMBER("task_struct", "pid_links", task_pid_links),
	MEMBER("pid", "tasks", pid_tasks),
	MEMBER("pid_namespace", "idr.idr_rt.xa_head", pid_ns_idr),
	MEMBER("xa_node", "shift", xa_shift),
	MEMBER("xa_node", "slots", xa_slots),
	MEMBER("mm_struct", "pgd", mm_pgd),
	MEMBER("mm_struct", "map_count", mm_map_count),
	MEMBER("vm_area_struct", "vm_start", vma_start),
	MEMBER("vm_area_struct", "vm_end", vma_end),
	MEMBER("vm_area_struct", "vm_flags", vma_flags),
	MEMBER("vm_area_struct", "vm_pgoff", vma_pgoff),
	MEMBER("vm_area_struct", "vm_file", vma_file),
	MEMBER("file", "f_mapping", file_mapping),
	MEMBER("file", "f_path.dentry", file_dentry),
	MEMBER("file", "f_path.mnt", file_mnt),
	MEMBER("dentry", "d_parent", dentry_parent),
	MEMBER("dentry", "d_name.name", dentry_name),
	MEMBER("dentry", "d_name.len", dentry_len),
	MEMBER("mount", "mnt", mount_mnt),
	MEMBER("mount", "mnt_parent", mount_parent),
	MEMBER("mount", "mnt_mountpoint", mount_mountpoint),
	MEMBER("vfsmount", "mnt_root", mnt_root),
	MEMBER("inode", "i_ino", inode_ino),
	MEMBER("inode", "i_sb", inode_sb),
	MEMBER("inode", "i_size", inode_size),
	MEMBER("super_block", "s_dev", sb_dev),
	MEMBER("address_space", "i_pages.xa_head", mapping_pages),
	MEMBER("address_space", "host", mapping_host),
};

static const struct member optional[] = {
	MEMBER("task_struct", "signal", task_signal),
	MEMBER("signal_struct", "live.counter", signal_live),
	MEMBER("pid", "numbers", pid_numbers),
	MEMBER("upid", "nr", upid_nr),
	MEMBER("mm_struct", "mm_mt.ma_root", mm_tree),
	MEMBER("mm_struct", "mmap", mm_list),
	MEMBER("mm_struct", "context.vdso", mm_vdso),
	MEMBER("mm_struct", "context.vdso_image", mm_vdso_image),
	MEMBER("vdso_image", "data", vdso_data),
	MEMBER("vdso_image", "size", vdso_size),
	MEMBER("mm_struct", "exe_file", mm_exe_file),
	MEMBER("vm_area_struct", "vm_next", vma_next),
	MEMBER("inode", "i_generation", inode_generation),
	MEMBER("inode", "i_data", inode_data),
	MEMBER("dentry", "d_hash.pprev", dentry_unhashed),
	MEMBER("file", "f_mode", file_mode),
	MEMBER("backing_file", "user_path.dentry", backing_dentry),
	MEMBER("backing_file", "user_path.mnt", backing_mnt),
};

static bool find_member(const struct vp_btf *btf, const struct member *m, struct vp_process_layout *l)
{
	uint32_t *field = (uint32_t *)((char *)l + m->field);

	*field = VP_NO_MEMBER;
	return vp_btf_member_offset(btf, m->type, m->path, field, NULL);
}

static struct ot_err *missing(const char *type, const char *path)
{
	return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's types have no %s.%s: its processes can't be read",
			  type, path);
}

static bool read_shape(const struct vp_btf *btf, const char *type, struct vp_maple_shape *ret)
{
	ret->pivots = vp_btf_array_length(btf, type, "pivot");
	ret->slots = vp_btf_array_length(btf, type, "slot");
	return vp_btf_member_offset(btf, type, "pivot", &ret->pivot, NULL) &&
	       vp_btf_member_offset(btf, type, "slot", &ret->slot, NULL) && ret->slots &&
	       ret->slots <= VP_MAPLE_PIVOTS_MAX && ret->pivots + 1 == ret->slots;
}

/* A kernel keeps mappings in a maple tree, or, before it had those, in a list. */
static struct ot_err *read_mappings(const struct vp_btf *btf, struct vp_process_layout *l)
{
	if (l->mm_tree == VP_NO_MEMBER) {
		if (l->mm_list == VP_NO_MEMBER || l->vma_next == VP_NO_MEMBER)
			return missing("mm_struct", "mm_mt, nor a list of mappings");
		return NULL;
	}
	if (!vp_btf_enum_named(btf, "maple_type", "maple_leaf_64", &l->maple_leaf) ||
	    !vp_btf_enum_named(btf, "maple_type", "maple_range_64", &l->maple_range) ||
	    !vp_btf_enum_named(btf, "maple_type", "maple_arange_64", &l->maple_arange))
		return missing("maple_type", "maple_leaf_64");
	if (!read_shape(btf, "maple_range_64", &l->leaf))
		return missing("maple_range_64", "pivot");
	return read_shape(btf, "maple_arange_64", &l->range) ? NULL : missing("maple_arange_64", "pivot");
}

/* A page of a file, or the group of pages that it is in, is a struct folio; in older kernels a struct page.
 */
static struct ot_err *read_folio(const struct vp_btf *btf, struct vp_process_layout *l)
{
	static const char *const types[] = { "folio", "page" };
	uint64_t size = vp_btf_sizeof(btf, "page");

	l->page_size = size && size <= 4096 ? (uint32_t)size : 0;
	if (!l->page_size)
		return missing("page", "flags");
	if (!vp_btf_enum_named(btf, "pageflags", "PG_uptodate", &l->page_uptodate) || l->page_uptodate < 0 ||
	    l->page_uptodate > 63)
		l->page_uptodate = -1;
	for (size_t i = 0; i < OT_ARRAY_SIZE(types); i++)
		if (vp_btf_member_offset(btf, types[i], "flags", &l->folio_flags, NULL) &&
		    vp_btf_member_offset(btf, types[i], "mapping", &l->folio_mapping, NULL) &&
		    vp_btf_member_offset(btf, types[i], "index", &l->folio_index, NULL))
			return NULL;
	return missing("page", "mapping");
}

struct ot_err *vp_process_layout_read(const struct vp_btf *btf, struct vp_process_layout *ret)
{
	struct vp_process_layout l = { 0 };

	if (!btf)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the guest's kernel has no BTF: its processes can't be read");
	for (size_t i = 0; i < OT_ARRAY_SIZE(indispensable); i++)
		if (!find_member(btf, &indispensable[i], &l))
			return missing(indispensable[i].type, indispensable[i].path);
	for (size_t i = 0; i < OT_ARRAY_SIZE(optional); i++)
		find_member(btf, &optional[i], &l);
	l.task_comm_size = vp_btf_array_length(btf, "task_struct", "comm");
	if (!l.task_comm_size || l.task_comm_size > VP_PROCESS_NAME)
		return missing("task_struct", "comm of a known size");
	l.xa_nslots = vp_btf_array_length(btf, "xa_node", "slots");
	if (!l.xa_nslots || l.xa_nslots > VP_XARRAY_SLOTS_MAX || l.xa_nslots & (l.xa_nslots - 1))
		return missing("xa_node", "slots of a known size");
	if (!vp_btf_enum_named(btf, "pid_type", "PIDTYPE_TGID", &l.pid_type_tgid) || l.pid_type_tgid < 0 ||
	    l.pid_type_tgid > 7)
		return missing("pid_type", "PIDTYPE_TGID");
	OT_TRY(read_mappings(btf, &l));
	OT_TRY(read_folio(btf, &l));
	*ret = l;
	return NULL;
}
