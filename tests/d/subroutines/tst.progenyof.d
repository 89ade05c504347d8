/* ASSERTION: progenyof() knows the process itself, its ancestors, and nobody else. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", progenyof($pid), progenyof($ppid), progenyof(ppid));
	printf("%d %d\n", progenyof(0x7fffffff), progenyof(-1));
	exit(0);
}
