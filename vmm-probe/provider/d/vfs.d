/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfs: FreeBSD's probes of file system operations, at the same places as fsinfo's. args[0] is the vnode, in
 * Linux the inode: of the file, or of the directory in which a name changes; args[1] is the open file or the
 * name's dentry, where there is one; args[2] of return is the error, 0 or a positive errno. VOP_CREATED is
 * Linux's FMODE_CREATED.
 */
provider vfs;

inline int VOP_CREATED = 0x100000;

/* Only a place whose parameter is of that type compiles. */
inline uint64_t vop_inode_at[struct inode *I] = (uint64_t)I;
inline uint64_t vop_dentry_at[struct dentry *D] = (uint64_t)D;
inline uint64_t vop_inode_of[struct file *F] = (uint64_t)F->f_path.dentry->d_inode;

inline int vop_error[int64_t result] = result < 0 ? -(int)result : 0;

/* Of what is returned as a pointer */
inline int namei_error[int64_t result] = result < 0 && result > -4096 ? -(int)result : 0;

probe vop:vop_open:entry(struct inode *, struct file *) {
	at { fbt::do_dentry_open:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
}

probe vop:vop_open:return(struct inode *, struct file *, int) {
	at {
		fbt::do_dentry_open:return / self->vop_open /
		{ trace(self->vop_open_inode); trace(self->vop_open_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::do_dentry_open:entry
		{ self->vop_open = 1; self->vop_open_inode = vop_inode_of[args[0]]; self->vop_open_of = arg0; }
	}
	after { fbt::do_dentry_open:return / self->vop_open / { self->vop_open = 0; self->vop_open_inode = 0; self->vop_open_of = 0; } }
}

probe vop:vop_create:entry(struct inode *, struct dentry *) {
	at {
		fbt::do_dentry_open:entry / args[0]->f_mode & VOP_CREATED /
		{ trace(vop_inode_of[args[0]]); trace((uint64_t)args[0]->f_path.dentry); }
	}
}

probe vop:vop_create:return(struct inode *, struct dentry *, int) {
	at {
		fbt::do_dentry_open:return / self->vop_create /
		{ trace(self->vop_create_inode); trace(self->vop_create_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::do_dentry_open:entry / args[0]->f_mode & VOP_CREATED /
		{ self->vop_create = 1; self->vop_create_inode = vop_inode_of[args[0]]; self->vop_create_of = (uint64_t)args[0]->f_path.dentry; }
	}
	after { fbt::do_dentry_open:return / self->vop_create / { self->vop_create = 0; self->vop_create_inode = 0; self->vop_create_of = 0; } }
}

probe vop:vop_close:entry(struct inode *, struct file *) {
	at { fbt::__fput:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
}

probe vop:vop_close:return(struct inode *, struct file *, int) {
	at {
		fbt::__fput:return / self->vop_close /
		{ trace(self->vop_close_inode); trace(self->vop_close_of); trace(0); }
	}
	with {
		fbt::__fput:entry
		{ self->vop_close = 1; self->vop_close_inode = vop_inode_of[args[0]]; self->vop_close_of = arg0; }
	}
	after { fbt::__fput:return / self->vop_close / { self->vop_close = 0; self->vop_close_inode = 0; self->vop_close_of = 0; } }
}

probe vop:vop_read:entry(struct inode *, struct file *) {
	at { fbt::vfs_read:entry, fbt::vfs_readv:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	or { fbt::vfs_read:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
}

probe vop:vop_read:return(struct inode *, struct file *, int) {
	at {
		fbt::vfs_read:return, fbt::vfs_readv:return / self->vop_read /
		{ trace(self->vop_read_inode); trace(self->vop_read_of); trace(vop_error[(int64_t)arg1]); }
	}
	with {
		fbt::vfs_read:entry, fbt::vfs_readv:entry
		{ self->vop_read = 1; self->vop_read_inode = vop_inode_of[args[0]]; self->vop_read_of = arg0; }
	}
	after { fbt::vfs_read:return, fbt::vfs_readv:return / self->vop_read / { self->vop_read = 0; self->vop_read_inode = 0; self->vop_read_of = 0; } }
	or {
		fbt::vfs_read:return / self->vop_read /
		{ trace(self->vop_read_inode); trace(self->vop_read_of); trace(vop_error[(int64_t)arg1]); }
	}
	with {
		fbt::vfs_read:entry
		{ self->vop_read = 1; self->vop_read_inode = vop_inode_of[args[0]]; self->vop_read_of = arg0; }
	}
	after { fbt::vfs_read:return / self->vop_read / { self->vop_read = 0; self->vop_read_inode = 0; self->vop_read_of = 0; } }
}

probe vop:vop_write:entry(struct inode *, struct file *) {
	at { fbt::vfs_write:entry, fbt::vfs_writev:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	or { fbt::vfs_write:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
}

probe vop:vop_write:return(struct inode *, struct file *, int) {
	at {
		fbt::vfs_write:return, fbt::vfs_writev:return / self->vop_write /
		{ trace(self->vop_write_inode); trace(self->vop_write_of); trace(vop_error[(int64_t)arg1]); }
	}
	with {
		fbt::vfs_write:entry, fbt::vfs_writev:entry
		{ self->vop_write = 1; self->vop_write_inode = vop_inode_of[args[0]]; self->vop_write_of = arg0; }
	}
	after { fbt::vfs_write:return, fbt::vfs_writev:return / self->vop_write / { self->vop_write = 0; self->vop_write_inode = 0; self->vop_write_of = 0; } }
	or {
		fbt::vfs_write:return / self->vop_write /
		{ trace(self->vop_write_inode); trace(self->vop_write_of); trace(vop_error[(int64_t)arg1]); }
	}
	with {
		fbt::vfs_write:entry
		{ self->vop_write = 1; self->vop_write_inode = vop_inode_of[args[0]]; self->vop_write_of = arg0; }
	}
	after { fbt::vfs_write:return / self->vop_write / { self->vop_write = 0; self->vop_write_inode = 0; self->vop_write_of = 0; } }
}

probe vop:vop_readdir:entry(struct inode *, struct file *) {
	at { fbt::iterate_dir:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
}

probe vop:vop_readdir:return(struct inode *, struct file *, int) {
	at {
		fbt::iterate_dir:return / self->vop_readdir /
		{ trace(self->vop_readdir_inode); trace(self->vop_readdir_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::iterate_dir:entry
		{ self->vop_readdir = 1; self->vop_readdir_inode = vop_inode_of[args[0]]; self->vop_readdir_of = arg0; }
	}
	after { fbt::iterate_dir:return / self->vop_readdir / { self->vop_readdir = 0; self->vop_readdir_inode = 0; self->vop_readdir_of = 0; } }
}

/* The functions of fsinfo:::fsync. The error is that of fsync(2) and fdatasync(2): the others end in a jump to the
 * file system's function, and do not know it. */
self uint64_t vop_synced, vop_ranges, vop_fsyncs, vop_fsynced;

probe vop:vop_fsync:entry(struct inode *, struct file *) {
	at {
		syscall::fsync:entry, syscall::fdatasync:entry / self->vop_synced /
		{ trace(vop_inode_of[(struct file *)self->vop_synced]); trace(self->vop_synced); }
		fbt::vfs_fsync:entry / arg0 != self->vop_synced / { trace(vop_inode_of[args[0]]); trace(arg0); }
		fbt::vfs_fsync_range:entry / arg0 != self->vop_synced && arg0 != self->vop_ranges /
		{ trace(vop_inode_of[args[0]]); trace(arg0); }
	}
	with {
		syscall::fsync:entry, syscall::fdatasync:entry { self->vop_synced = (uint64_t)getf((int)arg0); }
	}
	after {
		fbt::vfs_fsync:entry { self->vop_ranges = arg0; }
		fbt::vfs_fsync_range:entry { self->vop_ranges = 0; }
		fbt::__*_sys_fsync:return, fbt::__*_sys_fdatasync:return { self->vop_synced = 0; }
	}
}

probe vop:vop_fsync:return(struct inode *, struct file *, int) {
	at {
		fbt::__*_sys_fsync:return, fbt::__*_sys_fdatasync:return / self->vop_fsyncs /
		{ trace(self->vop_fsyncs_inode); trace(self->vop_fsyncs); trace(vop_error[(int)arg1]); }
		fbt::vfs_fsync:return, fbt::vfs_fsync_range:return / self->vop_fsync /
		{ trace(self->vop_fsync_inode); trace(self->vop_fsync); trace(0); }
	}
	with {
		syscall::fsync:entry, syscall::fdatasync:entry / getf((int)arg0) /
		{
			self->vop_fsyncs = (uint64_t)getf((int)arg0);
			self->vop_fsyncs_inode = vop_inode_of[getf((int)arg0)];
		}
		fbt::vfs_fsync:entry / arg0 != self->vop_fsyncs /
		{ self->vop_fsync = arg0; self->vop_fsync_inode = vop_inode_of[args[0]]; }
		fbt::vfs_fsync_range:entry / arg0 != self->vop_fsyncs && arg0 != self->vop_fsynced /
		{ self->vop_fsync = arg0; self->vop_fsync_inode = vop_inode_of[args[0]]; }
	}
	after {
		fbt::vfs_fsync:entry { self->vop_fsynced = arg0; }
		fbt::vfs_fsync_range:entry { self->vop_fsynced = 0; }
		fbt::vfs_fsync:return, fbt::vfs_fsync_range:return / self->vop_fsync /
		{ self->vop_fsync = 0; self->vop_fsync_inode = 0; }
		fbt::__*_sys_fsync:return, fbt::__*_sys_fdatasync:return
		{ self->vop_fsyncs = 0; self->vop_fsyncs_inode = 0; }
	}
}

probe vop:vop_ioctl:entry(struct inode *, struct file *) {
	at { fbt::do_vfs_ioctl:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
}

probe vop:vop_ioctl:return(struct inode *, struct file *, int) {
	at {
		fbt::do_vfs_ioctl:return / self->vop_ioctl /
		{ trace(self->vop_ioctl_inode); trace(self->vop_ioctl_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::do_vfs_ioctl:entry
		{ self->vop_ioctl = 1; self->vop_ioctl_inode = vop_inode_of[args[0]]; self->vop_ioctl_of = arg0; }
	}
	after { fbt::do_vfs_ioctl:return / self->vop_ioctl / { self->vop_ioctl = 0; self->vop_ioctl_inode = 0; self->vop_ioctl_of = 0; } }
}

probe vop:vop_mkdir:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_mkdir:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	or { fbt::vfs_mkdir:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
}

/* Since 6.15 vfs_mkdir() returns the dentry, or an error as a pointer. */
probe vop:vop_mkdir:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_mkdir:return / self->vop_mkdir /
		{ trace(self->vop_mkdir_inode); trace(self->vop_mkdir_of); trace(namei_error[(int64_t)vop_dentry_at[args[1]]]); }
	}
	with {
		fbt::vfs_mkdir:entry
		{ self->vop_mkdir = 1; self->vop_mkdir_inode = vop_inode_at[args[1]]; self->vop_mkdir_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_mkdir:return / self->vop_mkdir / { self->vop_mkdir = 0; self->vop_mkdir_inode = 0; self->vop_mkdir_of = 0; } }
	or {
		fbt::vfs_mkdir:return / self->vop_mkdir /
		{ trace(self->vop_mkdir_inode); trace(self->vop_mkdir_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_mkdir:entry
		{ self->vop_mkdir = 1; self->vop_mkdir_inode = vop_inode_at[args[1]]; self->vop_mkdir_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_mkdir:return / self->vop_mkdir / { self->vop_mkdir = 0; self->vop_mkdir_inode = 0; self->vop_mkdir_of = 0; } }
	or {
		fbt::vfs_mkdir:return / self->vop_mkdir /
		{ trace(self->vop_mkdir_inode); trace(self->vop_mkdir_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_mkdir:entry
		{ self->vop_mkdir = 1; self->vop_mkdir_inode = vop_inode_at[args[0]]; self->vop_mkdir_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::vfs_mkdir:return / self->vop_mkdir / { self->vop_mkdir = 0; self->vop_mkdir_inode = 0; self->vop_mkdir_of = 0; } }
}

/* 5.10's vfs_rmdir(dir, dentry) is in part inlined; it calls security_inode_rmdir(dir, dentry) where it may. */
probe vop:vop_rmdir:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_rmdir:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	or { fbt::security_inode_rmdir:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	or { fbt::vfs_rmdir:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
}

probe vop:vop_rmdir:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_rmdir:return / self->vop_rmdir /
		{ trace(self->vop_rmdir_inode); trace(self->vop_rmdir_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_rmdir:entry
		{ self->vop_rmdir = 1; self->vop_rmdir_inode = vop_inode_at[args[1]]; self->vop_rmdir_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_rmdir:return / self->vop_rmdir / { self->vop_rmdir = 0; self->vop_rmdir_inode = 0; self->vop_rmdir_of = 0; } }
	or {
		fbt::vfs_rmdir:return, fbt::do_rmdir:return / self->vop_rmdir /
		{ trace(self->vop_rmdir_inode); trace(self->vop_rmdir_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::security_inode_rmdir:entry
		{ self->vop_rmdir = 1; self->vop_rmdir_inode = vop_inode_at[args[0]]; self->vop_rmdir_of = vop_dentry_at[args[1]]; }
	}
	after {
		fbt::vfs_rmdir:return, fbt::do_rmdir:return / self->vop_rmdir /
		{ self->vop_rmdir = 0; self->vop_rmdir_inode = 0; self->vop_rmdir_of = 0; }
	}
	or {
		fbt::vfs_rmdir:return / self->vop_rmdir /
		{ trace(self->vop_rmdir_inode); trace(self->vop_rmdir_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_rmdir:entry
		{ self->vop_rmdir = 1; self->vop_rmdir_inode = vop_inode_at[args[0]]; self->vop_rmdir_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::vfs_rmdir:return / self->vop_rmdir / { self->vop_rmdir = 0; self->vop_rmdir_inode = 0; self->vop_rmdir_of = 0; } }
}

probe vop:vop_symlink:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_symlink:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	or { fbt::vfs_symlink:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
}

probe vop:vop_symlink:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_symlink:return / self->vop_symlink /
		{ trace(self->vop_symlink_inode); trace(self->vop_symlink_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_symlink:entry
		{ self->vop_symlink = 1; self->vop_symlink_inode = vop_inode_at[args[1]]; self->vop_symlink_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_symlink:return / self->vop_symlink / { self->vop_symlink = 0; self->vop_symlink_inode = 0; self->vop_symlink_of = 0; } }
	or {
		fbt::vfs_symlink:return / self->vop_symlink /
		{ trace(self->vop_symlink_inode); trace(self->vop_symlink_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_symlink:entry
		{ self->vop_symlink = 1; self->vop_symlink_inode = vop_inode_at[args[0]]; self->vop_symlink_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::vfs_symlink:return / self->vop_symlink / { self->vop_symlink = 0; self->vop_symlink_inode = 0; self->vop_symlink_of = 0; } }
}

probe vop:vop_remove:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_unlink:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	or { fbt::vfs_unlink:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
}

probe vop:vop_remove:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_unlink:return / self->vop_remove /
		{ trace(self->vop_remove_inode); trace(self->vop_remove_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_unlink:entry
		{ self->vop_remove = 1; self->vop_remove_inode = vop_inode_at[args[1]]; self->vop_remove_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_unlink:return / self->vop_remove / { self->vop_remove = 0; self->vop_remove_inode = 0; self->vop_remove_of = 0; } }
	or {
		fbt::vfs_unlink:return / self->vop_remove /
		{ trace(self->vop_remove_inode); trace(self->vop_remove_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_unlink:entry
		{ self->vop_remove = 1; self->vop_remove_inode = vop_inode_at[args[0]]; self->vop_remove_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::vfs_unlink:return / self->vop_remove / { self->vop_remove = 0; self->vop_remove_inode = 0; self->vop_remove_of = 0; } }
}

probe vop:vop_mknod:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_mknod:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	or { fbt::vfs_mknod:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
}

probe vop:vop_mknod:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_mknod:return / self->vop_mknod /
		{ trace(self->vop_mknod_inode); trace(self->vop_mknod_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_mknod:entry
		{ self->vop_mknod = 1; self->vop_mknod_inode = vop_inode_at[args[1]]; self->vop_mknod_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_mknod:return / self->vop_mknod / { self->vop_mknod = 0; self->vop_mknod_inode = 0; self->vop_mknod_of = 0; } }
	or {
		fbt::vfs_mknod:return / self->vop_mknod /
		{ trace(self->vop_mknod_inode); trace(self->vop_mknod_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_mknod:entry
		{ self->vop_mknod = 1; self->vop_mknod_inode = vop_inode_at[args[0]]; self->vop_mknod_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::vfs_mknod:return / self->vop_mknod / { self->vop_mknod = 0; self->vop_mknod_inode = 0; self->vop_mknod_of = 0; } }
}

probe vop:vop_link:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_link:entry { trace(vop_inode_at[args[2]]); trace(vop_dentry_at[args[3]]); } }
	or { fbt::vfs_link:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
}

probe vop:vop_link:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_link:return / self->vop_link /
		{ trace(self->vop_link_inode); trace(self->vop_link_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_link:entry
		{ self->vop_link = 1; self->vop_link_inode = vop_inode_at[args[2]]; self->vop_link_of = vop_dentry_at[args[3]]; }
	}
	after { fbt::vfs_link:return / self->vop_link / { self->vop_link = 0; self->vop_link_inode = 0; self->vop_link_of = 0; } }
	or {
		fbt::vfs_link:return / self->vop_link /
		{ trace(self->vop_link_inode); trace(self->vop_link_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_link:entry
		{ self->vop_link = 1; self->vop_link_inode = vop_inode_at[args[1]]; self->vop_link_of = vop_dentry_at[args[2]]; }
	}
	after { fbt::vfs_link:return / self->vop_link / { self->vop_link = 0; self->vop_link_inode = 0; self->vop_link_of = 0; } }
}

probe vop:vop_rename:entry(struct inode *, struct dentry *) {
	at {
		fbt::vfs_rename:entry
		{ trace((uint64_t)args[0]->old_dentry->d_parent->d_inode); trace((uint64_t)args[0]->old_dentry); }
	}
	or { fbt::vfs_rename:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
}

probe vop:vop_rename:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_rename:return / self->vop_rename /
		{ trace(self->vop_rename_inode); trace(self->vop_rename_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_rename:entry
		{ self->vop_rename = 1; self->vop_rename_inode = (uint64_t)args[0]->old_dentry->d_parent->d_inode; self->vop_rename_of = (uint64_t)args[0]->old_dentry; }
	}
	after { fbt::vfs_rename:return / self->vop_rename / { self->vop_rename = 0; self->vop_rename_inode = 0; self->vop_rename_of = 0; } }
	or {
		fbt::vfs_rename:return / self->vop_rename /
		{ trace(self->vop_rename_inode); trace(self->vop_rename_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_rename:entry
		{ self->vop_rename = 1; self->vop_rename_inode = vop_inode_at[args[0]]; self->vop_rename_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::vfs_rename:return / self->vop_rename / { self->vop_rename = 0; self->vop_rename_inode = 0; self->vop_rename_of = 0; } }
}

probe vop:vop_readlink:entry(struct inode *, struct dentry *) {
	at { fbt::vfs_readlink:entry { trace((uint64_t)args[0]->d_inode); trace(arg0); } }
}

probe vop:vop_readlink:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_readlink:return / self->vop_readlink /
		{ trace(self->vop_readlink_inode); trace(self->vop_readlink_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_readlink:entry
		{ self->vop_readlink = 1; self->vop_readlink_inode = (uint64_t)args[0]->d_inode; self->vop_readlink_of = arg0; }
	}
	after { fbt::vfs_readlink:return / self->vop_readlink / { self->vop_readlink = 0; self->vop_readlink_inode = 0; self->vop_readlink_of = 0; } }
}

probe vop:vop_getattr:entry(struct inode *, struct dentry *) {
	at {
		fbt::vfs_getattr_nosec:entry
		{ trace((uint64_t)args[0]->dentry->d_inode); trace((uint64_t)args[0]->dentry); }
	}
}

probe vop:vop_getattr:return(struct inode *, struct dentry *, int) {
	at {
		fbt::vfs_getattr_nosec:return / self->vop_getattr /
		{ trace(self->vop_getattr_inode); trace(self->vop_getattr_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::vfs_getattr_nosec:entry
		{ self->vop_getattr = 1; self->vop_getattr_inode = (uint64_t)args[0]->dentry->d_inode; self->vop_getattr_of = (uint64_t)args[0]->dentry; }
	}
	after { fbt::vfs_getattr_nosec:return / self->vop_getattr / { self->vop_getattr = 0; self->vop_getattr_inode = 0; self->vop_getattr_of = 0; } }
}

probe vop:vop_setattr:entry(struct inode *, struct dentry *) {
	at { fbt::notify_change:entry { trace((uint64_t)args[1]->d_inode); trace(vop_dentry_at[args[1]]); } }
	or { fbt::notify_change:entry { trace((uint64_t)args[0]->d_inode); trace(vop_dentry_at[args[0]]); } }
}

probe vop:vop_setattr:return(struct inode *, struct dentry *, int) {
	at {
		fbt::notify_change:return / self->vop_setattr /
		{ trace(self->vop_setattr_inode); trace(self->vop_setattr_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::notify_change:entry
		{ self->vop_setattr = 1; self->vop_setattr_inode = (uint64_t)args[1]->d_inode; self->vop_setattr_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::notify_change:return / self->vop_setattr / { self->vop_setattr = 0; self->vop_setattr_inode = 0; self->vop_setattr_of = 0; } }
	or {
		fbt::notify_change:return / self->vop_setattr /
		{ trace(self->vop_setattr_inode); trace(self->vop_setattr_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::notify_change:entry
		{ self->vop_setattr = 1; self->vop_setattr_inode = (uint64_t)args[0]->d_inode; self->vop_setattr_of = vop_dentry_at[args[0]]; }
	}
	after { fbt::notify_change:return / self->vop_setattr / { self->vop_setattr = 0; self->vop_setattr_inode = 0; self->vop_setattr_of = 0; } }
}

/* lookup_fast(struct nameidata, …), for each component of a path */
probe vop:vop_lookup:entry(struct inode *, struct dentry *) {
	at {
		fbt::lookup_fast:entry
		{ trace((uint64_t)args[0]->path.dentry->d_inode); trace((uint64_t)args[0]->path.dentry); }
	}
}

probe vop:vop_lookup:return(struct inode *, struct dentry *, int) {
	at {
		fbt::lookup_fast:return / self->vop_lookup /
		{ trace(self->vop_lookup_inode); trace(self->vop_lookup_of); trace(namei_error[(int64_t)arg1]); }
	}
	with {
		fbt::lookup_fast:entry
		{ self->vop_lookup = 1; self->vop_lookup_inode = (uint64_t)args[0]->path.dentry->d_inode; self->vop_lookup_of = (uint64_t)args[0]->path.dentry; }
	}
	after { fbt::lookup_fast:return / self->vop_lookup / { self->vop_lookup = 0; self->vop_lookup_inode = 0; self->vop_lookup_of = 0; } }
}

/* __lookup_slow(name, dir, …): what the name cache has not */
probe vop:vop_cachedlookup:entry(struct inode *, struct dentry *) {
	at { fbt::__lookup_slow:entry { trace(vop_inode_at[args[1]->d_inode]); trace(vop_dentry_at[args[1]]); } }
}

probe vop:vop_cachedlookup:return(struct inode *, struct dentry *, int) {
	at {
		fbt::__lookup_slow:return / self->vop_cachedlookup /
		{ trace(self->vop_cachedlookup_inode); trace(self->vop_cachedlookup_of); trace(namei_error[(int64_t)arg1]); }
	}
	with {
		fbt::__lookup_slow:entry
		{ self->vop_cachedlookup = 1; self->vop_cachedlookup_inode = vop_inode_at[args[1]->d_inode]; self->vop_cachedlookup_of = vop_dentry_at[args[1]]; }
	}
	after { fbt::__lookup_slow:return / self->vop_cachedlookup / { self->vop_cachedlookup = 0; self->vop_cachedlookup_inode = 0; self->vop_cachedlookup_of = 0; } }
}

/* No file is known in these. */
probe vop:vop_access:entry(struct inode *, struct dentry *) {
	at { fbt::do_faccessat:entry { trace(0); trace(0); } }
}

probe vop:vop_access:return(struct inode *, struct dentry *, int) {
	at {
		fbt::do_faccessat:return / self->vop_access /
		{ trace(self->vop_access_inode); trace(self->vop_access_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::do_faccessat:entry
		{ self->vop_access = 1; self->vop_access_inode = 0; self->vop_access_of = 0; }
	}
	after { fbt::do_faccessat:return / self->vop_access / { self->vop_access = 0; self->vop_access_inode = 0; self->vop_access_of = 0; } }
}

probe vop:vop_poll:entry(struct inode *, struct file *) {
	at { fbt::do_sys_poll:entry { trace(0); trace(0); } }
}

probe vop:vop_poll:return(struct inode *, struct file *, int) {
	at {
		fbt::do_sys_poll:return / self->vop_poll /
		{ trace(self->vop_poll_inode); trace(self->vop_poll_of); trace(vop_error[(int)arg1]); }
	}
	with {
		fbt::do_sys_poll:entry
		{ self->vop_poll = 1; self->vop_poll_inode = 0; self->vop_poll_of = 0; }
	}
	after { fbt::do_sys_poll:return / self->vop_poll / { self->vop_poll = 0; self->vop_poll_inode = 0; self->vop_poll_of = 0; } }
}

/* filename_lookup(dfd, struct filename, flags, …); do_filp_open(dfd, struct filename, …), later
 * do_file_open(), opens, and __filename_parentat(dfd, struct filename, …) finds the directory of a name that is made or
 * removed. */
probe namei:lookup:entry(struct inode *, char *, unsigned long) {
	at {
		fbt::filename_lookup:entry { trace(0); trace((uint64_t)args[1]->name); trace(arg2); }
		fbt::do_fil?_open:entry { trace(0); trace((uint64_t)args[1]->name); trace(0); }
		fbt::__filename_parentat:entry { trace(0); trace((uint64_t)args[1]->name); trace(arg2); }
	}
	or {
		fbt::filename_lookup:entry { trace(0); trace((uint64_t)args[1]->name); trace(arg2); }
		fbt::do_fil?_open:entry { trace(0); trace((uint64_t)args[1]->name); trace(0); }
		fbt::filename_parentat:entry { trace(0); trace((uint64_t)args[1]->name); trace(arg2); }
	}
	or {
		fbt::filename_lookup:entry { trace(0); trace((uint64_t)args[1]->name); trace(arg2); }
		fbt::do_fil?_open:entry { trace(0); trace((uint64_t)args[1]->name); trace(0); }
	}
}

/* do_filp_open() returns a file, or an error as a pointer. */
probe namei:lookup:return(int) {
	at {
		fbt::filename_lookup:return, fbt::__filename_parentat:return
		{ trace(vop_error[(int)arg1]); }
		fbt::do_fil?_open:return { trace(namei_error[(int64_t)arg1]); }
	}
	or {
		fbt::filename_lookup:return, fbt::filename_parentat:return
		{ trace(vop_error[(int)arg1]); }
		fbt::do_fil?_open:return { trace(namei_error[(int64_t)arg1]); }
	}
	or {
		fbt::filename_lookup:return
		{ trace(vop_error[(int)arg1]); }
		fbt::do_fil?_open:return { trace(namei_error[(int64_t)arg1]); }
	}
}

/* lookup_fast() returns the dentry, NULL, or an error as a pointer: the path is walked again. */
probe namecache:lookup:hit(struct inode *, char *, struct inode *) {
	at {
		fbt::lookup_fast:return
		/ self->namecache && arg1 && (int64_t)arg1 < -4095 && ((struct dentry *)arg1)->d_inode /
		{
			trace(self->namecache_inode);
			trace(self->namecache_name);
			trace((uint64_t)((struct dentry *)arg1)->d_inode);
		}
	}
	with {
		fbt::lookup_fast:entry
		{
			self->namecache = 1;
			self->namecache_inode = (uint64_t)args[0]->path.dentry->d_inode;
			self->namecache_name = (uint64_t)args[0]->last.name;
		}
	}
	after { fbt::lookup_fast:return { self->namecache = 0; self->namecache_inode = 0; self->namecache_name = 0; } }
}

probe namecache:lookup:hit-negative(struct inode *, char *) {
	at {
		fbt::lookup_fast:return
		/ self->namecache && arg1 && (int64_t)arg1 < -4095 && !((struct dentry *)arg1)->d_inode /
		{
			trace(self->namecache_inode);
			trace(self->namecache_name);
		}
	}
	with {
		fbt::lookup_fast:entry
		{
			self->namecache = 1;
			self->namecache_inode = (uint64_t)args[0]->path.dentry->d_inode;
			self->namecache_name = (uint64_t)args[0]->last.name;
		}
	}
	after { fbt::lookup_fast:return { self->namecache = 0; self->namecache_inode = 0; self->namecache_name = 0; } }
}

probe namecache:lookup:miss(struct inode *, char *) {
	at {
		fbt::lookup_fast:return
		/ self->namecache && !arg1 /
		{
			trace(self->namecache_inode);
			trace(self->namecache_name);
		}
	}
	with {
		fbt::lookup_fast:entry
		{
			self->namecache = 1;
			self->namecache_inode = (uint64_t)args[0]->path.dentry->d_inode;
			self->namecache_name = (uint64_t)args[0]->last.name;
		}
	}
	after { fbt::lookup_fast:return { self->namecache = 0; self->namecache_inode = 0; self->namecache_name = 0; } }
}
