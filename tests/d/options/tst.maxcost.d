/* ASSERTION: maxcost takes a percentage, with or without its sign, and has no effect on probes that need no guest. */
#pragma D option quiet
#pragma D option maxcost=1%

tick-10ms
/++n == 5/
{
	printf("%d\n", n);
	exit(0);
}
