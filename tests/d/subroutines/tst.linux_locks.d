/*
 * ASSERTION: What locks are is read from structures that are laid out as the kernel's types say; a structure that
 * the program declares comes before the kernel's.
 */
#pragma D option quiet

struct mutex {
	long flags;
	long owner;
};

struct rw_semaphore {
	long owner;
	long count;
};

BEGIN
{
	this->m = (struct mutex *)alloca(sizeof (struct mutex));
	this->m->owner = 0x12345001;
	printf("%d %p\n", mutex_owned(this->m), mutex_owner(this->m));
	printf("%d %d\n", mutex_type_adaptive(this->m), mutex_type_spin(this->m));
}

BEGIN
{
	this->rw = (struct rw_semaphore *)alloca(sizeof (struct rw_semaphore));
	printf("%d %d %d\n", rw_read_held(this->rw), rw_write_held(this->rw), rw_iswriter(this->rw));
	this->rw->count = 0x200;
	this->rw->owner = 0x12345003;
	printf("%d %d %d\n", rw_read_held(this->rw), rw_write_held(this->rw), rw_iswriter(this->rw));
	this->rw->count = 1;
	this->rw->owner = 0x12345000;
	printf("%d %d %d\n", rw_read_held(this->rw), rw_write_held(this->rw), rw_iswriter(this->rw));
	exit(0);
}
