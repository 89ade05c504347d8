/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Offsets of members of the kernel's structures that describe processes and files, from its BTF. */
#ifndef VP_GUEST_PROCESS_LAYOUT_H
#define VP_GUEST_PROCESS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "vmm-probe/engine/wire/kernel_trees.h"

struct vp_btf;

#define VP_NO_MEMBER UINT32_MAX /* this kernel has no such member */

/* Offsets in the guest's structures. One struct with many fields: a table of constants, each found and used
 * on its own. */
struct vp_process_layout {
	uint32_t task_tgid, task_start_time, task_comm, task_comm_size, task_mm, task_pid_links;
	uint32_t task_signal, signal_live; /* VP_NO_MEMBER: it is unknown whether a process has ended */
	uint32_t pid_tasks, pid_ns_idr;
	uint32_t pid_numbers, upid_nr; /* VP_NO_MEMBER: a struct pid does not have its number */
	int64_t pid_type_tgid;
	uint32_t xa_shift, xa_slots, xa_nslots; /* struct xa_node */
	uint32_t mm_pgd, mm_map_count, mm_vdso, mm_vdso_image, mm_exe_file;
	uint32_t vdso_data, vdso_size; /* of struct vdso_image */
	uint32_t mm_tree;              /* the root of its maple tree, or … */
	uint32_t mm_list;              /* … the first of its list of mappings */
	struct vp_maple_shape leaf, range;
	int64_t maple_leaf, maple_range, maple_arange; /* types of nodes */
	uint32_t vma_start, vma_end, vma_flags, vma_pgoff, vma_file, vma_next;
	uint32_t file_mapping, file_dentry, file_mnt, file_mode;
	uint32_t backing_dentry, backing_mnt; /* of struct backing_file: the path that its user sees */
	uint32_t dentry_parent, dentry_name, dentry_len, dentry_unhashed;
	uint32_t mount_mnt, mount_parent, mount_mountpoint, mnt_root;
	uint32_t inode_ino, inode_generation, inode_sb, inode_size, sb_dev;
	uint32_t inode_data; /* an inode's own struct address_space */
	uint32_t mapping_pages, mapping_host;
	uint32_t folio_flags, folio_mapping, folio_index, page_size;
	int64_t page_uptodate; /* bit of folio_flags; -1: unknown */
};

/** UNSUPPORTED: the message names a missing member without which no process can be read. A member of only
 * some kernels is VP_NO_MEMBER in others. */
OT_MUST_CHECK struct ot_err *vp_process_layout_read(const struct vp_btf *btf, struct vp_process_layout *ret);

#endif
