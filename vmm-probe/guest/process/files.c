/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file's identity, and its path: from its dentry up to the root of its mount, then on from the mount point,
 * like the kernel's d_path() (fs/d_path.c). A rename meanwhile may yield a mixture of two names; a name with
 * a NUL in it is read again.
 */
#include "vmm-probe/guest/process/files.h"

#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/process/internal.h"

#define STEPS_MAX  512u /* parts of a path, and mounts on the way */
#define NAME_BYTES 255u
#define BACKING \
	(1u << 25) /* FMODE_BACKING, include/linux/fs.h: a struct backing_file, with its user's path */

bool vp_file_is_same(const struct vp_file_id *a, const struct vp_file_id *b)
{
	return a->mapping == b->mapping && a->inode == b->inode && a->dev == b->dev &&
	       a->generation == b->generation;
}

const char *vp_path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* A path that is written from its end. */
struct builder {
	char *path; /* VP_PATH_MAX bytes */
	size_t start;
};

static struct ot_err *put_name(struct vp_processes *ps, uint64_t dentry, struct builder *b)
{
	uint64_t name;
	uint32_t len;

	OT_TRY(vp_kernel_u64(ps, dentry + ps->l.dentry_name, &name));
	OT_TRY(vp_kernel_u32(ps, dentry + ps->l.dentry_len, &len));
	if (!len || len > NAME_BYTES)
		return vp_process_torn();
	if (b->start < len + 1)
		return ot_err_new(OT_ERR_LIMIT, "the path is longer than %u bytes", VP_PATH_MAX);
	b->start -= len;
	OT_TRY(vp_kernel_read(ps, name, b->path + b->start, len));
	if (memchr(b->path + b->start, '\0', len))
		return vp_process_torn();
	b->path[--b->start] = '/';
	return NULL;
}

/* At the root of a mount: continue at its mount point. *ret_done: it is mounted nowhere. */
static struct ot_err *leave_mount(struct vp_processes *ps, uint64_t *dentry, uint64_t *mnt, bool *ret_done)
{
	uint64_t mount = *mnt - ps->l.mount_mnt, parent;

	OT_TRY(vp_kernel_u64(ps, mount + ps->l.mount_parent, &parent));
	*ret_done = parent == mount || !parent;
	if (*ret_done)
		return NULL;
	OT_TRY(vp_kernel_u64(ps, mount + ps->l.mount_mountpoint, dentry));
	*mnt = parent + ps->l.mount_mnt;
	return NULL;
}

/* Continue to the end of all mounts, or to @top; *ret_top: it was reached. */
static struct ot_err *build_path(struct vp_processes *ps, uint64_t dentry, uint64_t mnt,
				 const struct vp_path *top, struct builder *b, bool *ret_top)
{
	uint64_t root, parent;
	bool done = false;

	for (unsigned step = 0; !done; step++) {
		if (step == STEPS_MAX)
			return ot_err_new(OT_ERR_BAD_DATA, "the path does not end");
		*ret_top = dentry == top->dentry && mnt == top->mnt;
		if (*ret_top)
			break;
		OT_TRY(vp_kernel_u64(ps, mnt + ps->l.mnt_root, &root));
		OT_TRY(vp_kernel_u64(ps, dentry + ps->l.dentry_parent, &parent));
		if (dentry == root) {
			OT_TRY(leave_mount(ps, &dentry, &mnt, &done));
			continue;
		}
		/* The name of a file of the kernel's own (memfd, shared anonymous memory) is in no
		 * directory. */
		done = parent == dentry;
		OT_TRY(put_name(ps, dentry, b));
		dentry = parent;
	}
	if (b->start == VP_PATH_MAX - 1)
		b->path[--b->start] = '/';
	return NULL;
}

struct ot_err *vp_path_read(struct vp_processes *ps, const struct vp_path *at, const struct vp_path *top,
			    char path[VP_PATH_MAX], const char **ret)
{
	struct builder b = { path, VP_PATH_MAX - 1 };
	bool met;

	path[b.start] = '\0';
	OT_TRY(build_path(ps, at->dentry, at->mnt, top, &b, &met));
	*ret = met ? path + b.start : NULL;
	return NULL;
}

/* The path that its user sees: for a file in a container, not the one in the image's layer. */
static struct ot_err *user_path(struct vp_processes *ps, uint64_t at, uint64_t *ret_dentry, uint64_t *ret_mnt)
{
	const struct vp_process_layout *l = &ps->l;
	uint32_t mode = 0;

	if (l->backing_dentry != VP_NO_MEMBER && l->backing_mnt != VP_NO_MEMBER &&
	    l->file_mode != VP_NO_MEMBER)
		OT_TRY(vp_kernel_u32(ps, at + l->file_mode, &mode));
	bool backing = mode & BACKING;

	OT_TRY(vp_kernel_u64(ps, at + (backing ? l->backing_dentry : l->file_dentry), ret_dentry));
	return vp_kernel_u64(ps, at + (backing ? l->backing_mnt : l->file_mnt), ret_mnt);
}

/* A file's data in its inode. */
static struct ot_err *read_inode(struct vp_processes *ps, uint64_t inode, struct vp_file_id *id)
{
	const struct vp_process_layout *l = &ps->l;
	uint64_t sb;

	OT_TRY(vp_kernel_u64(ps, inode + l->inode_ino, &id->inode));
	if (l->inode_generation != VP_NO_MEMBER)
		OT_TRY(vp_kernel_u32(ps, inode + l->inode_generation, &id->generation));
	OT_TRY(vp_kernel_u64(ps, inode + l->inode_sb, &sb));
	return vp_kernel_u32(ps, sb + l->sb_dev, &id->dev);
}

static struct ot_err *read_there(struct vp_processes *ps, uint64_t mapping, struct vp_file_id *ret)
{
	uint64_t inode;

	OT_TRY(vp_kernel_u64(ps, mapping + ps->l.mapping_host, &inode));
	return read_inode(ps, inode, ret);
}

bool vp_file_is_there(struct vp_processes *ps, const struct vp_file_id *id)
{
	struct vp_file_id now = { .mapping = id->mapping };
	struct ot_err *err = read_there(ps, id->mapping, &now);

	ot_err_destroy(err);
	return !err && vp_file_is_same(&now, id);
}

static struct ot_err *read_id(struct vp_processes *ps, uint64_t at, struct vp_file *f)
{
	uint64_t inode;

	OT_TRY(vp_kernel_u64(ps, at + ps->l.file_mapping, &f->id.mapping));
	/* If the pages belong to another inode (a stacked file system), that one is the file. */
	OT_TRY(vp_kernel_u64(ps, f->id.mapping + ps->l.mapping_host, &inode));
	OT_TRY(vp_kernel_u64(ps, inode + ps->l.inode_size, &f->size));
	return read_inode(ps, inode, &f->id);
}

static struct ot_err *read_once(struct vp_processes *ps, uint64_t at, struct vp_file *f, struct builder *b)
{
	static const struct vp_path nowhere = { 0, 0 };
	uint64_t dentry, mnt, hashed = 1, parent;
	bool met;

	memset(&f->id, 0, sizeof(f->id));
	b->start = VP_PATH_MAX - 1;
	b->path[b->start] = '\0';
	OT_TRY(read_id(ps, at, f));
	OT_TRY(user_path(ps, at, &dentry, &mnt));
	OT_TRY(build_path(ps, dentry, mnt, &nowhere, b, &met));
	OT_TRY(vp_kernel_u64(ps, dentry + ps->l.dentry_parent, &parent));
	if (ps->l.dentry_unhashed != VP_NO_MEMBER)
		OT_TRY(vp_kernel_u64(ps, dentry + ps->l.dentry_unhashed, &hashed));
	f->deleted = !hashed || parent == dentry;
	return NULL;
}

struct ot_err *vp_file_read(struct vp_processes *ps, uint64_t at, struct vp_file *ret)
{
	char path[VP_PATH_MAX];
	struct builder b = { path, 0 };
	struct vp_file f = { 0 };
	struct ot_err *err = NULL;

	for (unsigned nth = 0; vp_process_again(ps, nth, &err); nth++)
		err = read_once(ps, at, &f, &b);
	OT_TRY(err);
	f.path = strdup(path + b.start);
	if (!f.path)
		return ot_err_nomem();
	*ret = f;
	return NULL;
}

void vp_file_deinit(struct vp_file *file)
{
	free(file->path);
	memset(file, 0, sizeof(*file));
}
