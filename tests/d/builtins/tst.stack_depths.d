/* ASSERTION: A host probe has no stack of a kernel: its depths and callers are 0. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %x %x %d\n", stackdepth, ustackdepth, caller, ucaller, curthread == NULL);
	exit(0);
}
