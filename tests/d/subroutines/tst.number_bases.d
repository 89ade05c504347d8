/* ASSERTION: A base outside of 2 to 36 is an illegal operation, of lltostr() and of strtoll(). */
#pragma D option quiet

BEGIN
{
	lltostr(1, 1);
}

BEGIN
{
	lltostr(1, 37);
}

BEGIN
{
	strtoll("1", 0);
}

BEGIN
{
	strtoll("1", -10);
}

ERROR
{
	printf("%d %d\n", ++faults, arg4 == DTRACEFLT_ILLOP);
}

BEGIN
{
	exit(0);
}
