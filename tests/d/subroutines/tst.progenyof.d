/* ASSERTION: progenyof() is true for the process itself and its ancestors only. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", progenyof($pid), progenyof($ppid), progenyof(ppid));
	printf("%d %d\n", progenyof(0x7fffffff), progenyof(-1));
	exit(0);
}
