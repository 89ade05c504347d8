/* ASSERTION: probeprov, probemod, probefunc and probename, id and epid, in each kind of probe. */
#pragma D option quiet

BEGIN,
tick-1ms,
END
{
	printf("%s:%s:%s:%s %d %d\n", probeprov, probemod, probefunc, probename, id < 4, epid);
}

tick-1ms
{
	exit(0);
}
