/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vfs: FreeBSD's probes of file system operations, at the same places as fsinfo's. args[0] is the vnode, in
 * Linux the inode: of the file, or of the directory in which a name changes; args[1] is the open file or the
 * name's dentry, where there is one; args[2] of return is the error, 0 or a positive errno. VOP_OPENED and
 * VOP_CREATED are Linux's FMODE_OPENED and FMODE_CREATED.
 */
provider vfs;

inline int VOP_OPENED = 0x80000;
inline int VOP_CREATED = 0x100000;

/* Only a place whose parameter is of that type compiles. */
inline uint64_t vop_inode_at[struct inode *I] = (uint64_t)I;
inline uint64_t vop_dentry_at[struct dentry *D] = (uint64_t)D;
inline uint64_t vop_inode_of[struct file *F] = (uint64_t)F->f_path.dentry->d_inode;

inline int vop_error[int64_t result] = result < 0 ? -(int)result : 0;

/* Of what is returned as a pointer */
inline int namei_error[int64_t result] = result < 0 && result > -4096 ? -(int)result : 0;

probe vop:vop_open:entry(struct inode *, struct file *) return(int) {
	at { fbt::do_dentry_open:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::do_dentry_open:return { trace(vop_error[(int)arg1]); } }
	/* its BTF has no prototype of the function */
	or { fbt::do_dentry_open:entry { trace(vop_inode_of[(struct file *)arg0]); trace(arg0); } }
	returns { fbt::do_dentry_open:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_create:entry(struct inode *, struct dentry *) return(int) {
	at {
		fbt::do_dentry_open:entry / args[0]->f_mode & VOP_CREATED /
		{ trace(vop_inode_of[args[0]]); trace((uint64_t)args[0]->f_path.dentry); }
	}
	returns { fbt::do_dentry_open:return { trace(vop_error[(int)arg1]); } }
	or {
		fbt::do_dentry_open:entry / ((struct file *)arg0)->f_mode & VOP_CREATED /
		{ trace(vop_inode_of[(struct file *)arg0]); trace((uint64_t)((struct file *)arg0)->f_path.dentry); }
	}
	returns { fbt::do_dentry_open:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_close:entry(struct inode *, struct file *) return(int) {
	at {
		fbt::__fput:entry / args[0]->f_mode & VOP_OPENED /
		{ trace(vop_inode_of[args[0]]); trace(arg0); }
	}
	returns { fbt::__fput:return { trace(0); } }
}

probe vop:vop_read:entry(struct inode *, struct file *) return(int) {
	at { fbt::vfs_read:entry, fbt::vfs_readv:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::vfs_read:return, fbt::vfs_readv:return { trace(vop_error[(int64_t)arg1]); } }
	or { fbt::vfs_read:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::vfs_read:return { trace(vop_error[(int64_t)arg1]); } }
}

probe vop:vop_write:entry(struct inode *, struct file *) return(int) {
	at { fbt::vfs_write:entry, fbt::vfs_writev:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::vfs_write:return, fbt::vfs_writev:return { trace(vop_error[(int64_t)arg1]); } }
	or { fbt::vfs_write:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::vfs_write:return { trace(vop_error[(int64_t)arg1]); } }
}

probe vop:vop_readdir:entry(struct inode *, struct file *) return(int) {
	at { fbt::iterate_dir:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::iterate_dir:return { trace(vop_error[(int)arg1]); } }
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

probe vop:vop_ioctl:entry(struct inode *, struct file *) return(int) {
	at { fbt::do_vfs_ioctl:entry { trace(vop_inode_of[args[0]]); trace(arg0); } }
	returns { fbt::do_vfs_ioctl:return { trace(vop_error[(int)arg1]); } }
}

/* Since 6.15 vfs_mkdir() returns the dentry, or an error as a pointer. */
probe vop:vop_mkdir:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_mkdir:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_mkdir:return { trace(namei_error[(int64_t)vop_dentry_at[args[1]]]); } }
	or { fbt::vfs_mkdir:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_mkdir:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_mkdir:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_mkdir:return { trace(vop_error[(int)arg1]); } }
}

/* 5.10's vfs_rmdir(dir, dentry) is in part inlined; it calls security_inode_rmdir(dir, dentry) where it may. */
probe vop:vop_rmdir:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_rmdir:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_rmdir:return { trace(vop_error[(int)arg1]); } }
	or { fbt::security_inode_rmdir:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_rmdir:return, fbt::do_rmdir:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_rmdir:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_rmdir:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_symlink:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_symlink:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_symlink:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_symlink:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_symlink:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_remove:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_unlink:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_unlink:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_unlink:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_unlink:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_mknod:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_mknod:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_mknod:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_mknod:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_mknod:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_link:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_link:entry { trace(vop_inode_at[args[2]]); trace(vop_dentry_at[args[3]]); } }
	returns { fbt::vfs_link:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_link:entry { trace(vop_inode_at[args[1]]); trace(vop_dentry_at[args[2]]); } }
	returns { fbt::vfs_link:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_rename:entry(struct inode *, struct dentry *) return(int) {
	at {
		fbt::vfs_rename:entry
		{ trace((uint64_t)args[0]->old_dentry->d_parent->d_inode); trace((uint64_t)args[0]->old_dentry); }
	}
	returns { fbt::vfs_rename:return { trace(vop_error[(int)arg1]); } }
	or { fbt::vfs_rename:entry { trace(vop_inode_at[args[0]]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::vfs_rename:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_readlink:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::vfs_readlink:entry { trace((uint64_t)args[0]->d_inode); trace(arg0); } }
	returns { fbt::vfs_readlink:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_getattr:entry(struct inode *, struct dentry *) return(int) {
	at {
		fbt::vfs_getattr_nosec:entry
		{ trace((uint64_t)args[0]->dentry->d_inode); trace((uint64_t)args[0]->dentry); }
	}
	returns { fbt::vfs_getattr_nosec:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_setattr:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::notify_change:entry { trace((uint64_t)args[1]->d_inode); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::notify_change:return { trace(vop_error[(int)arg1]); } }
	or { fbt::notify_change:entry { trace((uint64_t)args[0]->d_inode); trace(vop_dentry_at[args[0]]); } }
	returns { fbt::notify_change:return { trace(vop_error[(int)arg1]); } }
}

/* lookup_fast(struct nameidata, …), for each component of a path */
probe vop:vop_lookup:entry(struct inode *, struct dentry *) return(int) {
	at {
		fbt::lookup_fast:entry
		{ trace((uint64_t)args[0]->path.dentry->d_inode); trace((uint64_t)args[0]->path.dentry); }
	}
	returns { fbt::lookup_fast:return { trace(namei_error[(int64_t)arg1]); } }
}

/* __lookup_slow(name, dir, …): what the name cache has not */
probe vop:vop_cachedlookup:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::__lookup_slow:entry { trace(vop_inode_at[args[1]->d_inode]); trace(vop_dentry_at[args[1]]); } }
	returns { fbt::__lookup_slow:return { trace(namei_error[(int64_t)arg1]); } }
}

/* No file is known in these. */
probe vop:vop_access:entry(struct inode *, struct dentry *) return(int) {
	at { fbt::do_faccessat:entry { trace(0); trace(0); } }
	returns { fbt::do_faccessat:return { trace(vop_error[(int)arg1]); } }
}

probe vop:vop_poll:entry(struct inode *, struct file *) return(int) {
	at { fbt::do_sys_poll:entry { trace(0); trace(0); } }
	returns { fbt::do_sys_poll:return { trace(vop_error[(int)arg1]); } }
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
