/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file's identity, and its path: from its dentry up to the root of its mount, then on from the mount point,
 * like the kernel's d_path() (fs/d_path.c). A rename meanwhile may yield a mixture of two names; a name with
 * a NUL in it is read again.
 */
#include "vmm-probe/guest/process/files.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "vmm-probe/guest/process/internal.h"

#define STEPS_MAX       512u /* parts of a path, and mounts on the way */
#define NAME_BYTES      255u
#define KNOWN_BYTES_MAX ((size_t)1 << 20)
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
	const struct vp_member members[] = { VP_MEMBER(ps->l.dentry_name, &name),
					     VP_MEMBER(ps->l.dentry_len, &len) };

	OT_TRY(vp_kernel_members(ps, dentry, members, OT_ARRAY_SIZE(members)));
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

/* What a path follows from. Compared by its bytes. */
struct path_key {
	struct vp_file_id id;
	uint64_t dentry, mnt;
};

/* The path is the one that its user sees: for a file in a container, not the one in the image's layer. */
static struct ot_err *read_file(struct vp_processes *ps, struct vp_near *near, uint64_t at,
				struct path_key *ret)
{
	const struct vp_process_layout *l = &ps->l;
	uint32_t mode = 0;
	const struct vp_member members[] = {
		VP_MEMBER(l->file_mapping, &ret->id.mapping),
		VP_MEMBER(l->file_dentry, &ret->dentry),
		VP_MEMBER(l->file_mnt, &ret->mnt),
		VP_MEMBER(l->file_mode, &mode),
	};
	const struct vp_member users[] = { VP_MEMBER(l->backing_dentry, &ret->dentry),
					   VP_MEMBER(l->backing_mnt, &ret->mnt) };

	OT_TRY(vp_near_members(ps, near, at, members, OT_ARRAY_SIZE(members)));
	if (!(mode & BACKING) || l->backing_dentry == VP_NO_MEMBER || l->backing_mnt == VP_NO_MEMBER)
		return NULL;
	return vp_kernel_members(ps, at, users, OT_ARRAY_SIZE(users));
}

/* What an inode says of itself. */
struct inode {
	uint64_t number, sb, size;
	uint32_t generation;
	uint64_t host; /* of the pages that are in it: itself */
};

static struct ot_err *read_inode(struct vp_processes *ps, uint64_t at, uint32_t host, struct inode *ret)
{
	const struct vp_process_layout *l = &ps->l;
	const struct vp_member members[] = {
		VP_MEMBER(l->inode_ino, &ret->number), VP_MEMBER(l->inode_generation, &ret->generation),
		VP_MEMBER(l->inode_sb, &ret->sb),      VP_MEMBER(l->inode_size, &ret->size),
		VP_MEMBER(host, &ret->host),
	};

	memset(ret, 0, sizeof(*ret));
	return vp_kernel_members(ps, at, members, OT_ARRAY_SIZE(members));
}

/* The inode of the pages of @mapping. Nearly always they are in itself, and it is read at once; where they
 * are another inode's (a stacked file system), that one is the file. */
static struct ot_err *find_inode(struct vp_processes *ps, uint64_t mapping, struct inode *ret)
{
	const struct vp_process_layout *l = &ps->l;
	uint64_t host, own = mapping - l->inode_data;

	if (l->inode_data != VP_NO_MEMBER) {
		struct ot_err *err = read_inode(ps, own, l->inode_data + l->mapping_host, ret);

		if (!err && ret->host == own)
			return NULL;
		ot_err_destroy(err);
	}
	OT_TRY(vp_kernel_u64(ps, mapping + l->mapping_host, &host));
	return read_inode(ps, host, VP_NO_MEMBER, ret);
}

/* In a walk over many processes, of which most have their files in one file system, its number is kept. */
static struct ot_err *read_dev(struct vp_processes *ps, uint64_t sb, uint32_t *ret)
{
	struct vp_known *known = &ps->known;

	if (known->kept && sb && known->sb == sb) {
		*ret = known->dev;
		return NULL;
	}
	OT_TRY(vp_kernel_u32(ps, sb + ps->l.sb_dev, ret));
	known->sb = sb;
	known->dev = *ret;
	return NULL;
}

static struct ot_err *read_id(struct vp_processes *ps, struct vp_file_id *id, uint64_t *ret_size)
{
	struct inode inode;

	OT_TRY(find_inode(ps, id->mapping, &inode));
	id->inode = inode.number;
	id->generation = inode.generation;
	*ret_size = inode.size;
	return read_dev(ps, inode.sb, &id->dev);
}

bool vp_file_is_there(struct vp_processes *ps, const struct vp_file_id *id)
{
	struct vp_file_id now = { .mapping = id->mapping };
	uint64_t size;
	struct ot_err *err = read_id(ps, &now, &size);

	ot_err_destroy(err);
	return !err && vp_file_is_same(&now, id);
}

static struct ot_err *read_path(struct vp_processes *ps, const struct path_key *key, struct builder *b,
				bool *ret_deleted)
{
	static const struct vp_path nowhere = { 0, 0 };
	uint64_t hashed = 1, parent;
	const struct vp_member members[] = { VP_MEMBER(ps->l.dentry_parent, &parent),
					     VP_MEMBER(ps->l.dentry_unhashed, &hashed) };
	bool met;

	b->start = VP_PATH_MAX - 1;
	b->path[b->start] = '\0';
	OT_TRY(build_path(ps, key->dentry, key->mnt, &nowhere, b, &met));
	OT_TRY(vp_kernel_members(ps, key->dentry, members, OT_ARRAY_SIZE(members)));
	*ret_deleted = !hashed || parent == key->dentry;
	return NULL;
}

/* --- paths that are known ------------------------------------------------------------------------------- */

struct known_path {
	bool deleted;
	char text[];
};

void vp_paths_init(struct vp_known *known)
{
	memset(known, 0, sizeof(*known));
	ot_map_init(&known->map);
	ot_arena_init(&known->arena);
}

void vp_paths_deinit(struct vp_known *known)
{
	ot_map_deinit(&known->map);
	ot_arena_deinit(&known->arena);
}

static const struct known_path *find_known(const struct vp_known *known, const struct path_key *key)
{
	return known->kept ? ot_map_get(&known->map, key, sizeof(*key)) : NULL;
}

/* Without memory it is read again the next time. */
static void remember(struct vp_known *known, const struct path_key *key, const struct vp_file *f)
{
	size_t len = strlen(f->path) + 1;
	struct known_path *copy;

	if (!known->kept || known->bytes > KNOWN_BYTES_MAX)
		return;
	copy = ot_arena_alloc(&known->arena, sizeof(*copy) + len);
	if (!copy)
		return;
	known->bytes += sizeof(*copy) + len;
	copy->deleted = f->deleted;
	memcpy(copy->text, f->path, len);
	if (!ot_map_put(&known->map, key, sizeof(*key), copy))
		known->kept = false;
}

void vp_processes_keep(struct vp_processes *ps, bool keep)
{
	vp_paths_deinit(&ps->known);
	vp_paths_init(&ps->known);
	vp_mmu_flush(vp_guest_mmu(ps->guest));
	ps->known.kept = keep;
}

/* *ret_path is known, or in b->path. */
static struct ot_err *read_once(struct vp_processes *ps, struct vp_near *near, uint64_t at,
				struct path_key *key, struct vp_file *f, struct builder *b,
				const char **ret_path)
{
	const struct known_path *known;

	memset(key, 0, sizeof(*key));
	OT_TRY(read_file(ps, near, at, key));
	OT_TRY(read_id(ps, &key->id, &f->size));
	known = find_known(&ps->known, key);
	*ret_path = known ? known->text : NULL;
	if (!known)
		return read_path(ps, key, b, &f->deleted);
	f->deleted = known->deleted;
	return NULL;
}

struct ot_err *vp_file_read(struct vp_processes *ps, struct vp_near *near, uint64_t at, struct vp_file *ret)
{
	char path[VP_PATH_MAX];
	struct builder b = { path, 0 };
	struct vp_file f = { 0 };
	struct path_key key;
	const char *known = NULL;
	struct ot_err *err;
	unsigned nth = 0;

	/* The first attempt goes by the translations with which @at was found a moment ago. */
	do
		err = read_once(ps, nth ? NULL : near, at, &key, &f, &b, &known);
	while (err && vp_process_again(ps, ++nth, &err));
	OT_TRY(err);
	f.id = key.id;
	f.path = strdup(known ? known : path + b.start);
	if (!f.path)
		return ot_err_nomem();
	if (!known)
		remember(&ps->known, &key, &f);
	*ret = f;
	return NULL;
}

void vp_file_deinit(struct vp_file *file)
{
	free(file->path);
	memset(file, 0, sizeof(*file));
}
