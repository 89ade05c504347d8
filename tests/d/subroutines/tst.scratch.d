/* ASSERTION: alloca() and bcopy(): zeroed, aligned, bounded by what was asked for. */
#pragma D option quiet

BEGIN
{
	this->p = (char *)alloca(3);
	this->q = (uint64_t *)alloca(16);
	printf("%d %d %d\n", this->p[0] + this->p[2], (uintptr_t)this->q % 8, this->q[1]);
	bcopy("ab", this->p, 3);
	bcopy(this->p, this->q, 3);
	bcopy(NULL, this->p, 0);
	printf("%s %x\n", stringof(this->p), this->q[0]);
	printf("%d\n", alloca(0) != NULL);
}

BEGIN
{
	bcopy("abcdefghij", alloca(8), 9);
}

BEGIN
{
	bcopy("x", "y", 1);
}

BEGIN
{
	bcopy("x", NULL, 1);
}

BEGIN
{
	alloca(-1);
}

BEGIN
{
	alloca(1 << 30);
}

ERROR
{
	printf("%d\n", arg4);
}

BEGIN
{
	exit(0);
}
