/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fsinfo: operations on files, by the functions of the kernel's VFS layer that each file system's operations
 * are called from. args[0] is the file, or the directory in which the operation changes a name; args[1] is
 * the number of bytes that were read or written, else 0; args[2] of an operation on a name is its dentry.
 *
 * The functions that take a directory have had a first parameter more since 5.12.
 */
provider fsinfo;

inline int FMODE_OPENED = 0x80000;
inline int FMODE_CREATED = 0x100000;

/* Only a place whose parameter is of that type compiles. */
inline uint64_t inode_at[struct inode *I] = (uint64_t)I;
inline uint64_t dentry_at[struct dentry *D] = (uint64_t)D;

inline int bytes_done[int64_t result] = result < 0 ? 0 : (int)result;

/* do_dentry_open(file, …): flags and path are set. FMODE_CREATED: the open has made the file. */
probe open(struct file * : fileinfo_t *, int) {
	at { fbt::do_dentry_open:entry { trace(arg0); trace(0); } }
}

probe create(struct inode * : fileinfo_t *, int, struct dentry *) {
	at {
		fbt::do_dentry_open:entry / args[0]->f_mode & FMODE_CREATED /
		{
			trace((uint64_t)args[0]->f_path.dentry->d_inode);
			trace(0);
			trace((uint64_t)args[0]->f_path.dentry);
		}
	}
	/* its BTF has no prototype of the function */
	or {
		fbt::do_dentry_open:entry / ((struct file *)arg0)->f_mode & FMODE_CREATED /
		{
			trace((uint64_t)((struct file *)arg0)->f_path.dentry->d_inode);
			trace(0);
			trace((uint64_t)((struct file *)arg0)->f_path.dentry);
		}
	}
}

/* __fput(file), for the last reference; also for one that could not be opened, which is no file yet */
probe close(struct file * : fileinfo_t *, int) {
	at { fbt::__fput:entry / args[0]->f_mode & FMODE_OPENED / { trace(arg0); trace(0); } }
}

/* vfs_read(file, …); readv(2) and its kin call vfs_readv(file, …). */
probe read(struct file * : fileinfo_t *, int) {
	at {
		fbt::vfs_read:return, fbt::vfs_readv:return / self->fsinfo_read /
		{ trace((uint64_t)self->fsinfo_read); trace(bytes_done[(int64_t)arg1]); }
	}
	with { fbt::vfs_read:entry, fbt::vfs_readv:entry { self->fsinfo_read = arg0; } }
	after { fbt::vfs_read:return, fbt::vfs_readv:return { self->fsinfo_read = 0; } }
	or {
		fbt::vfs_read:return / self->fsinfo_read /
		{ trace((uint64_t)self->fsinfo_read); trace(bytes_done[(int64_t)arg1]); }
	}
	with { fbt::vfs_read:entry { self->fsinfo_read = arg0; } }
	after { fbt::vfs_read:return { self->fsinfo_read = 0; } }
}

probe write(struct file * : fileinfo_t *, int) {
	at {
		fbt::vfs_write:return, fbt::vfs_writev:return / self->fsinfo_write /
		{ trace((uint64_t)self->fsinfo_write); trace(bytes_done[(int64_t)arg1]); }
	}
	with { fbt::vfs_write:entry, fbt::vfs_writev:entry { self->fsinfo_write = arg0; } }
	after { fbt::vfs_write:return, fbt::vfs_writev:return { self->fsinfo_write = 0; } }
	or {
		fbt::vfs_write:return / self->fsinfo_write /
		{ trace((uint64_t)self->fsinfo_write); trace(bytes_done[(int64_t)arg1]); }
	}
	with { fbt::vfs_write:entry { self->fsinfo_write = arg0; } }
	after { fbt::vfs_write:return { self->fsinfo_write = 0; } }
}

/* iterate_dir(file, …) */
probe readdir(struct file * : fileinfo_t *, int) {
	at { fbt::iterate_dir:entry { trace(arg0); trace(0); } }
}

/* vfs_fsync_range(file, …), which newer compilers inline into its callers of the same source file: fsync(2),
 * fdatasync(2) and vfs_fsync(file, …). Whichever of them is entered first for a file counts. */
self uint64_t fsinfo_synced, fsinfo_ranges;

probe fsync(struct file * : fileinfo_t *, int) {
	at {
		syscall::fsync:entry, syscall::fdatasync:entry / self->fsinfo_synced /
		{ trace(self->fsinfo_synced); trace(0); }
		fbt::vfs_fsync:entry / arg0 != self->fsinfo_synced / { trace(arg0); trace(0); }
		fbt::vfs_fsync_range:entry / arg0 != self->fsinfo_synced && arg0 != self->fsinfo_ranges /
		{ trace(arg0); trace(0); }
	}
	with {
		syscall::fsync:entry, syscall::fdatasync:entry { self->fsinfo_synced = (uint64_t)getf((int)arg0); }
	}
	after {
		fbt::vfs_fsync:entry { self->fsinfo_ranges = arg0; }
		fbt::vfs_fsync_range:entry { self->fsinfo_ranges = 0; }
		fbt::__*_sys_fsync:return, fbt::__*_sys_fdatasync:return { self->fsinfo_synced = 0; }
	}
}

/* do_vfs_ioctl(file, …) */
probe ioctl(struct file * : fileinfo_t *, int) {
	at { fbt::do_vfs_ioctl:entry { trace(arg0); trace(0); } }
}

/* vfs_fallocate(file, …) */
probe space(struct file * : fileinfo_t *, int) {
	at { fbt::vfs_fallocate:entry { trace(arg0); trace(0); } }
}

/* mmap_region(file, …); memory without a file is no operation on one. */
probe map(struct file * : fileinfo_t *, int) {
	at { fbt::mmap_region:entry / arg0 / { trace(arg0); trace(0); } }
}

/* lseek(2): vfs_llseek() is inlined there. */
probe seek(struct file * : fileinfo_t *, int) {
	at { syscall::lseek:entry { trace((uint64_t)getf((int)arg0)); trace(0); } }
}

/* vfs_mkdir(…, dir, dentry, …), and the same of those that follow */
probe mkdir(struct inode * : fileinfo_t *, int, struct dentry *) {
	at { fbt::vfs_mkdir:entry { trace(inode_at[args[1]]); trace(0); trace(dentry_at[args[2]]); } }
	or { fbt::vfs_mkdir:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
}

/* 5.10's vfs_rmdir(dir, dentry) is in part inlined; it calls security_inode_rmdir(dir, dentry) where it may. */
probe rmdir(struct inode * : fileinfo_t *, int, struct dentry *) {
	at { fbt::vfs_rmdir:entry { trace(inode_at[args[1]]); trace(0); trace(dentry_at[args[2]]); } }
	or { fbt::security_inode_rmdir:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
	or { fbt::vfs_rmdir:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
}

probe symlink(struct inode * : fileinfo_t *, int, struct dentry *) {
	at { fbt::vfs_symlink:entry { trace(inode_at[args[1]]); trace(0); trace(dentry_at[args[2]]); } }
	or { fbt::vfs_symlink:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
}

probe remove(struct inode * : fileinfo_t *, int, struct dentry *) {
	at { fbt::vfs_unlink:entry { trace(inode_at[args[1]]); trace(0); trace(dentry_at[args[2]]); } }
	or { fbt::vfs_unlink:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
}

probe mknod(struct inode * : fileinfo_t *, int, struct dentry *) {
	at { fbt::vfs_mknod:entry { trace(inode_at[args[1]]); trace(0); trace(dentry_at[args[2]]); } }
	or { fbt::vfs_mknod:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
}

/* vfs_link(old dentry, …, dir, new dentry, …) */
probe link(struct inode * : fileinfo_t *, int, struct dentry *) {
	at { fbt::vfs_link:entry { trace(inode_at[args[2]]); trace(0); trace(dentry_at[args[3]]); } }
	or { fbt::vfs_link:entry { trace(inode_at[args[1]]); trace(0); trace(dentry_at[args[2]]); } }
}

/* vfs_rename(struct renamedata), before 5.12 vfs_rename(dir, dentry, …): the old name */
probe rename(struct inode * : fileinfo_t *, int, struct dentry *) {
	at {
		fbt::vfs_rename:entry
		{
			trace((uint64_t)args[0]->old_dentry->d_parent->d_inode);
			trace(0);
			trace((uint64_t)args[0]->old_dentry);
		}
	}
	or { fbt::vfs_rename:entry { trace(inode_at[args[0]]); trace(0); trace(dentry_at[args[1]]); } }
}

/* vfs_readlink(dentry, …) */
probe readlink(struct inode * : fileinfo_t *, int) {
	at { fbt::vfs_readlink:entry { trace((uint64_t)args[0]->d_inode); trace(0); } }
}

/* vfs_getattr_nosec(path, …) */
probe getattr(struct inode * : fileinfo_t *, int) {
	at { fbt::vfs_getattr_nosec:entry { trace((uint64_t)args[0]->dentry->d_inode); trace(0); } }
}

/* notify_change(…, dentry, …) */
probe setattr(struct inode * : fileinfo_t *, int) {
	at { fbt::notify_change:entry { trace((uint64_t)args[1]->d_inode); trace(0); } }
	or { fbt::notify_change:entry { trace((uint64_t)args[0]->d_inode); trace(0); } }
}

/* lookup_fast(struct nameidata, …), for each component of a path: the directory */
probe lookup(struct inode * : fileinfo_t *, int) {
	at { fbt::lookup_fast:entry { trace((uint64_t)args[0]->path.dentry->d_inode); trace(0); } }
}

/* do_faccessat(dfd, name, …): no file is known yet. */
probe access(struct inode * : fileinfo_t *, int) {
	at { fbt::do_faccessat:entry { trace(0); trace(0); } }
}

/* do_sys_poll(fds, …), for all files at once */
probe poll(struct inode * : fileinfo_t *, int) {
	at { fbt::do_sys_poll:entry { trace(0); trace(0); } }
}
