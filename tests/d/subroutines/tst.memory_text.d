/* ASSERTION: memref() names memory for printm(), memstr() makes a string of it. */
#pragma D option quiet

BEGIN
{
	this->p = (char *)alloca(6);
	bcopy("a", this->p, 2);
	bcopy("bc", this->p + 3, 2);
	printf("%s [%s]\n", memstr(this->p, '-', 6), memstr(this->p, '-', 0));
	this->r = memref(this->p, 6);
	printf("%d %d\n", this->r[0] == (uintptr_t)this->p, this->r[1]);
}

BEGIN
{
	memstr(alloca(1), ' ', 4097);
}

ERROR
{
	printf("%d\n", arg4 == DTRACEFLT_ILLOP);
	exit(0);
}
