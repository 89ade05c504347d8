/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mounts in two ways, in the mount namespace of the first process: the namespace's own list of them (since
 * Linux 6.8 a tree), from which /proc/mounts is printed, and the mounts on mounts, by which paths are
 * followed. Mounts outside the first process's root are omitted, as in /proc/mounts.
 */
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/census_internal.h"
#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/process/files.h"

#define TYPE_MAX 64u /* bytes of a file system's type, with its NUL */

struct layout {
	uint32_t task_nsproxy, nsproxy_ns, task_fs, root_mnt, root_dentry;
	uint32_t mnt, mnt_root, mnt_sb, sb_type, sb_subtype, type_name;
	uint32_t ns_list, mnt_list;      /* the namespace's mounts, in a list, or … */
	uint32_t ns_tree, mnt_node;      /* … in a tree */
	uint32_t ns_root, mounts, child; /* mounts on mounts */
	bool has_list;
	struct vp_rb_layout rb;
};

struct ctx {
	struct vp_guest *guest;
	struct vp_processes *ps;
	struct layout l;
	uint64_t ns;        /* address of the struct mnt_namespace */
	struct vp_path top; /* the first process's root */
	struct vp_census *census;
	uint32_t way;
	struct ot_buf todo; /* addresses: of nodes, or of mounts whose children have not been visited */
	char path[VP_PATH_MAX];
};

/* The ways that the kernel's types allow. */
static uint32_t find_layout(const struct vp_btf *btf, struct layout *l)
{
	const struct vp_member members[] = {
		{ "task_struct", "nsproxy", &l->task_nsproxy },
		{ "nsproxy", "mnt_ns", &l->nsproxy_ns },
		{ "task_struct", "fs", &l->task_fs },
		{ "fs_struct", "root.mnt", &l->root_mnt },
		{ "fs_struct", "root.dentry", &l->root_dentry },
		{ "mount", "mnt", &l->mnt },
		{ "vfsmount", "mnt_root", &l->mnt_root },
		{ "vfsmount", "mnt_sb", &l->mnt_sb },
		{ "super_block", "s_type", &l->sb_type },
		{ "super_block", "s_subtype", &l->sb_subtype },
		{ "file_system_type", "name", &l->type_name },
	};
	const struct vp_member list[] = {
		{ "mnt_namespace", "list", &l->ns_list },
		{ "mount", "mnt_list", &l->mnt_list },
	};
	const struct vp_member tree[] = {
		{ "mnt_namespace", "mounts.rb_node", &l->ns_tree },
		{ "mount", "mnt_node", &l->mnt_node },
	};
	const struct vp_member children[] = {
		{ "mnt_namespace", "root", &l->ns_root },
		{ "mount", "mnt_mounts", &l->mounts },
		{ "mount", "mnt_child", &l->child },
	};
	uint32_t have = 0;

	if (!vp_census_members(btf, members, OT_ARRAY_SIZE(members)))
		return 0;
	l->has_list = vp_census_members(btf, list, OT_ARRAY_SIZE(list));
	if (l->has_list ||
	    (vp_census_members(btf, tree, OT_ARRAY_SIZE(tree)) && vp_census_rb_layout(btf, &l->rb)))
		have |= VP_MOUNT_NAMESPACE;
	if (vp_census_members(btf, children, OT_ARRAY_SIZE(children)))
		have |= VP_MOUNT_TREE;
	return have;
}

/* --- a mount -------------------------------------------------------------------------------------------- */

/* A name of the kernel's, cut to fit. Words that are aligned are in one page. */
static struct ot_err *read_name(struct ctx *c, uint64_t at, char name[TYPE_MAX])
{
	size_t len = 0;

	while (len < TYPE_MAX - 1) {
		size_t n = 8 - (at + len) % 8;

		if (n > TYPE_MAX - 1 - len)
			n = TYPE_MAX - 1 - len;
		OT_TRY(vp_guest_read(c->guest, vp_gva(at + len), name + len, n));
		if (memchr(name + len, '\0', n))
			return NULL;
		len += n;
	}
	name[len] = '\0';
	return NULL;
}

/* " ext4", " fuse.sshfs" */
static struct ot_err *put_type(struct ctx *c, uint64_t mnt, struct ot_buf *out)
{
	uint64_t sb, type, name, subtype;
	char text[TYPE_MAX];

	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(mnt + c->l.mnt_sb), &sb));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(sb + c->l.sb_type), &type));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(sb + c->l.sb_subtype), &subtype));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(type + c->l.type_name), &name));
	OT_TRY(read_name(c, name, text));
	ot_buf_printf(out, " %s", text);
	if (!subtype)
		return NULL;
	OT_TRY(read_name(c, subtype, text));
	ot_buf_printf(out, ".%s", text);
	return NULL;
}

static struct ot_err *add_named(struct ctx *c, const char *path, uint64_t mnt)
{
	char name[VP_PATH_MAX + 2 * TYPE_MAX + 2];
	struct ot_buf out;

	ot_buf_init_fixed(&out, name, sizeof(name));
	ot_buf_puts(&out, path);
	OT_TRY(put_type(c, mnt, &out));
	return vp_census_add(c->census, 0, 0, c->way, name, out.len);
}

/* A program that reads /proc/mounts has its own mark in the list, which is not a mount: it has no root. */
static struct ot_err *add_mount(struct ctx *c, uint64_t mount)
{
	struct vp_path at = { .mnt = mount + c->l.mnt };
	const char *path;

	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(at.mnt + c->l.mnt_root), &at.dentry));
	if (!at.dentry)
		return NULL;
	OT_TRY(vp_budget_check());
	OT_TRY(vp_path_read(c->ps, &at, &c->top, c->path, &path));
	return path ? add_named(c, path, at.mnt) : NULL;
}

/* --- the namespace's mounts ----------------------------------------------------------------------------- */

static struct ot_err *list_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;

	return add_mount(c, node - c->l.mnt_list);
}

static struct ot_err *tree_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;

	return add_mount(c, node - c->l.mnt_node);
}

static struct ot_err *walk_namespace(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;
	uint64_t root;

	c->census = census;
	c->way = VP_MOUNT_NAMESPACE;
	if (c->l.has_list)
		return vp_census_list(c->guest, c->ns + c->l.ns_list, VP_FOUND_MAX, list_node, c);
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(c->ns + c->l.ns_tree), &root));
	return vp_census_rb(c->guest, &c->l.rb, root, &c->todo, tree_node, c);
}

/* --- mounts on mounts ------------------------------------------------------------------------------------ */

static struct ot_err *child_node(void *arg, uint64_t node)
{
	struct ctx *c = arg;
	uint64_t mount = node - c->l.child;

	if (c->todo.len >= VP_FOUND_MAX * sizeof(mount))
		return vp_census_endless();
	ot_buf_append(&c->todo, &mount, sizeof(mount));
	return c->todo.failed ? ot_err_nomem() : add_mount(c, mount);
}

/* A mount is in one list at most, as a list's links are checked. The root is in none that leads back to it,
 * or there would be no end. */
static struct ot_err *walk_tree(void *arg, struct vp_census *census)
{
	struct ctx *c = arg;
	uint64_t root, mount;

	c->census = census;
	c->way = VP_MOUNT_TREE;
	ot_buf_clear(&c->todo);
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(c->ns + c->l.ns_root), &root));
	OT_TRY(child_node(c, root + c->l.child));
	for (size_t i = 0; i < c->todo.len; i += sizeof(mount)) {
		memcpy(&mount, c->todo.data + i, sizeof(mount));
		if (i && mount == root)
			return vp_census_torn();
		OT_TRY(vp_census_list(c->guest, mount + c->l.mounts, VP_FOUND_MAX, child_node, c));
	}
	return NULL;
}

/* --- all --------------------------------------------------------------------------------------------- */

/* The address of the first process. */
static struct ot_err *find_namespace(struct ctx *c)
{
	struct vp_guest_process init;
	uint64_t nsproxy, fs;

	OT_TRY(vp_processes_open(c->guest, &c->ps));
	OT_TRY(vp_guest_process_find(c->ps, 1, &init));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(init.task + c->l.task_nsproxy), &nsproxy));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(init.task + c->l.task_fs), &fs));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(nsproxy + c->l.nsproxy_ns), &c->ns));
	OT_TRY(vp_guest_read_u64(c->guest, vp_gva(fs + c->l.root_mnt), &c->top.mnt));
	return vp_guest_read_u64(c->guest, vp_gva(fs + c->l.root_dentry), &c->top.dentry);
}

static struct ot_err *take(struct ctx *c, uint32_t have, struct vp_census *ret)
{
	static const struct vp_way ways[] = {
		{ VP_MOUNT_NAMESPACE, "list of mounts", walk_namespace },
		{ VP_MOUNT_TREE, "tree of mounts", walk_tree },
	};
	struct vp_budget budget;

	vp_guest_budget_begin(c->guest, &budget, &vp_readings[VP_READ_MOUNTS]);
	struct ot_err *err = find_namespace(c);

	vp_budget_end(&budget);
	OT_TRY(ot_err_prefix(err, "the guest's first process can't be read"));
	return vp_census_walk(c->guest, &vp_readings[VP_READ_MOUNTS], ways, OT_ARRAY_SIZE(ways), have, c,
			      ret);
}

struct ot_err *vp_census_mounts(struct vp_guest *guest, struct vp_census *ret)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	struct ctx *c = calloc(1, sizeof(*c));
	uint32_t have;

	memset(ret, 0, sizeof(*ret));
	if (!c)
		return ot_err_nomem();
	c->guest = guest;
	ot_buf_init(&c->todo);
	have = btf ? find_layout(btf, &c->l) : 0;
	vp_mmu_flush(vp_guest_mmu(guest));
	struct ot_err *err =
	    have ? take(c, have, ret)
		 : ot_err_new(OT_ERR_UNSUPPORTED, "the guest's types do not describe its mounts");

	vp_processes_close(c->ps);
	ot_buf_deinit(&c->todo);
	free(c);
	return err;
}
