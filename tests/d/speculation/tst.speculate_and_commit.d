/*
 * ASSERTION: a clause may speculate and commit, if it records nothing: what was held is printed.
 */
#pragma D option quiet

BEGIN
{
	self->s = speculation();
}

BEGIN
{
	speculate(self->s);
	printf("held\n");
}

BEGIN
{
	speculate(self->s);
	commit(self->s);
	x = 1;
}

BEGIN
{
	printf("x is %d\n", x);
}

tick-100ms
{
	exit(0);
}
