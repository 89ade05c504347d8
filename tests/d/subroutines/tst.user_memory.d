/* ASSERTION: Without a guest, user memory is that of the tracing process; where there is none there is a fault. */
#pragma D option quiet

BEGIN
{
	this->sp = uregs[R_SP];
	this->in = (uint64_t *)copyin(this->sp, 8);
	this->into = (uint64_t *)alloca(8);
	copyinto(this->sp, 8, this->into);
	printf("%d %d\n", *this->in == *this->into, copyin(0, 0) != NULL);
	printf("[%s]\n", copyinstr(this->sp, 0));
}

BEGIN
{
	copyin(0, 1);
}

BEGIN
{
	copyinstr(8);
}

BEGIN
{
	copyinto(uregs[R_SP], 8, NULL);
}

BEGIN
{
	copyin(uregs[R_SP], 1 << 30);
}

ERROR
{
	printf("%d\n", arg4);
}

BEGIN
{
	exit(0);
}
