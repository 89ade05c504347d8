/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fileinfo_t of an open file, an inode, or a page of a file's. What has no name in a file system (a pipe, a
 * socket, anonymous memory, an inode whose dentry is not cached) is "<none>".
 */
#pragma D depends_on library io.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf
#pragma D depends_on struct file
#pragma D depends_on struct mount

inline string __dentry_name[struct dentry *D] = stringof((char *)D->d_name.name);

/* A struct path that d_path() can read: its members are mnt and dentry, in this order. */
inline string __path_text[struct vfsmount *M, struct dentry *D] = d_path((struct path *)memref((void *)M, (size_t)D));

/* Files of pipefs, sockfs and so on have a mount that is nowhere: SB_NOUSER */
inline int __is_nowhere[struct super_block *S] = S == NULL || (S->s_flags & 0x80000000) != 0;

/* --- open files ------------------------------------------------------------------------------- */

inline int __file_unnamed[struct file *F] = F == NULL || __is_nowhere[F->f_path.dentry->d_sb];

translator fileinfo_t < struct file *F > {
	fi_name = __file_unnamed[F] ? "<none>" : __dentry_name[F->f_path.dentry];
	fi_dirname = __file_unnamed[F] ? "<none>" : dirname(d_path(&F->f_path));
	fi_pathname = __file_unnamed[F] ? "<none>" : d_path(&F->f_path);
	fi_offset = F == NULL ? 0 : F->f_pos;
	fi_fs = F == NULL ? "<none>" : stringof((char *)F->f_path.dentry->d_sb->s_type->name);
	fi_mount = __file_unnamed[F] ? "<none>" : __path_text[F->f_path.mnt, F->f_path.mnt->mnt_root];
	fi_oflags = F == NULL ? 0 : F->f_flags;
};

/* --- inodes: by their first name, below the first mount of their file system -------------------- */

/* d_u is a named union up to 7.0 */
inline struct dentry *__inode_dentry[struct inode *I] =
	I == NULL || I->i_dentry.first == NULL ? NULL :
	(struct dentry *)((uintptr_t)I->i_dentry.first -
	(__has_member(struct dentry, d_u) ? offsetof(struct dentry, d_u) : offsetof(struct dentry, d_alias)));

/* s_mounts is the head of a list up to 6.17, then the first of the mounts itself */
inline struct mount *__sb_mount[struct super_block *S] =
	__has_member(struct mount, mnt_instance) ?
	(struct mount *)((uintptr_t)*(uint64_t *)&S->s_mounts - offsetof(struct mount, mnt_instance)) :
	(struct mount *)*(uint64_t *)&S->s_mounts;
inline int __sb_mounted[struct super_block *S] =
	!__is_nowhere[S] && *(uint64_t *)&S->s_mounts != 0 && *(uint64_t *)&S->s_mounts != (uint64_t)&S->s_mounts;

inline string __inode_path[struct inode *I] = __path_text[&__sb_mount[I->i_sb]->mnt, __inode_dentry[I]];
inline int __inode_unnamed[struct inode *I] = __inode_dentry[I] == NULL || !__sb_mounted[I->i_sb];

translator fileinfo_t < struct inode *I > {
	fi_name = __inode_unnamed[I] ? "<none>" : __dentry_name[__inode_dentry[I]];
	fi_dirname = __inode_unnamed[I] ? "<none>" : dirname(__inode_path[I]);
	fi_pathname = __inode_unnamed[I] ? "<none>" : __inode_path[I];
	fi_offset = 0;
	fi_fs = I == NULL ? "<none>" : stringof((char *)I->i_sb->s_type->name);
	fi_mount = __inode_unnamed[I] ? "<none>" :
	    __path_text[&__sb_mount[I->i_sb]->mnt, __sb_mount[I->i_sb]->mnt.mnt_root];
	fi_oflags = 0;
};

/* --- pages ------------------------------------------------------------------------------------- */

/* A page's folio: a page behind the first of its folio has bit 0 set there; compound_info since 7.0 */
inline uint64_t __page_head_word[struct page *P] =
	__has_member(struct page, compound_info) ? P->compound_info :
	__has_member(struct page, compound_head) ? P->compound_head : 0;
inline struct page *__page_head[struct page *P] =
	P != NULL && (__page_head_word[P] & 1) ? (struct page *)(__page_head_word[P] - 1) : P;

/* bits 0 and 1 say that it is no file's: anonymous, or movable */
inline struct address_space *__head_mapping[struct page *P] =
	P == NULL ? NULL : __has_member(struct page, mapping) ? P->mapping : ((struct folio *)P)->mapping;
inline struct inode *__mapping_inode[struct address_space *A] =
	A == NULL || ((uintptr_t)A & 3) ? NULL : A->host;
inline struct inode *__page_inode[struct page *P] = __mapping_inode[__head_mapping[__page_head[P]]];

translator fileinfo_t < struct page *P > {
	fi_name = xlate <fileinfo_t> (__page_inode[P]).fi_name;
	fi_dirname = xlate <fileinfo_t> (__page_inode[P]).fi_dirname;
	fi_pathname = xlate <fileinfo_t> (__page_inode[P]).fi_pathname;
	fi_offset = 0;
	fi_fs = xlate <fileinfo_t> (__page_inode[P]).fi_fs;
	fi_mount = xlate <fileinfo_t> (__page_inode[P]).fi_mount;
	fi_oflags = 0;
};

/* --- of the current process --------------------------------------------------------------------- */

inline fileinfo_t fds[int fd] = xlate <fileinfo_t> ((struct file *)getf(fd));
inline string cwd = d_path(&curthread->fs->pwd);
inline string root = d_path(&curthread->fs->root);
