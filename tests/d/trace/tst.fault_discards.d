/*
 * ASSERTION: tracemem() of an address that cannot be read is a fault: nothing of its clause is shown.
 */
#pragma D option quiet

BEGIN
{
	printf("not shown");
	tracemem((void *)16, 8);
}

BEGIN
{
	printf("shown\n");
	exit(0);
}

ERROR
{
	printf("fault %d at %p\n", arg4, arg5);
}

END
{
	printf("end\n");
}
