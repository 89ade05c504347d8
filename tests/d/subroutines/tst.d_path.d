/* ASSERTION: d_path() goes up through dentries, and from a mounted file system to where it is mounted. */
#pragma D option quiet

struct dentry;
struct qstr {
	uint32_t hash;
	uint32_t len;
	char *name;
};
struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
};
struct vfsmount {
	struct dentry *mnt_root;
};
struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
};
struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

BEGIN
{
	this->root = (struct dentry *)alloca(sizeof (struct dentry));
	this->root->d_parent = this->root;
	this->home = (struct dentry *)alloca(sizeof (struct dentry));
	this->home->d_parent = this->root;
	this->home->d_name.name = (char *)alloca(5);
	bcopy("home", this->home->d_name.name, 5);
	this->home->d_name.len = 4;

	this->top = (struct dentry *)alloca(sizeof (struct dentry));
	this->top->d_parent = this->top;
	this->file = (struct dentry *)alloca(sizeof (struct dentry));
	this->file->d_parent = this->top;
	this->file->d_name.name = (char *)alloca(9);
	bcopy("file.txt", this->file->d_name.name, 9);
	this->file->d_name.len = 8;

	this->first = (struct mount *)alloca(sizeof (struct mount));
	this->first->mnt_parent = this->first;
	this->first->mnt.mnt_root = this->root;
	this->second = (struct mount *)alloca(sizeof (struct mount));
	this->second->mnt_parent = this->first;
	this->second->mnt_mountpoint = this->home;
	this->second->mnt.mnt_root = this->top;

	this->p = (struct path *)alloca(sizeof (struct path));
	this->p->mnt = &this->second->mnt;
	this->p->dentry = this->file;
	printf("%s\n", d_path(this->p));
	this->p->dentry = this->top;
	printf("%s\n", d_path(this->p));
	this->p->mnt = &this->first->mnt;
	this->p->dentry = this->root;
	printf("%s\n", d_path(this->p));

	/* dentries that go round: what strsize holds of that */
	this->home->d_parent = this->file;
	this->file->d_parent = this->home;
	this->p->dentry = this->home;
	printf("%d %s\n", strlen(d_path(this->p)), substr(d_path(this->p), -19));
}

/* a name that is longer than names can be */
BEGIN
{
	this->m = (struct mount *)alloca(sizeof (struct mount));
	this->m->mnt.mnt_root = NULL;
	this->d = (struct dentry *)alloca(sizeof (struct dentry));
	this->d->d_name.len = 256;
	this->q = (struct path *)alloca(sizeof (struct path));
	this->q->mnt = &this->m->mnt;
	this->q->dentry = this->d;
	trace(d_path(this->q));
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_BADADDR);
	exit(0);
}
