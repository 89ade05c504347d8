/* Quiet output, globals with a type, and the time of day: what reads did in two seconds. */
#pragma D option quiet

uint64_t reads;
uint64_t bytes;
int64_t began;
string last;

BEGIN
{
	began = walltimestamp;
	printf("%Y: watching read(2)\n", began);
}

syscall::read:entry
{
	reads++;
	last = execname;
}

syscall::read:return
/(int64_t)arg1 > 0/
{
	bytes += arg1;
}

tick-2s
{
	exit(0);
}

END
{
	printf("%Y: %u reads, %u bytes in %d ms; the last by %s\n", walltimestamp, reads, bytes,
	    (walltimestamp - began) / 1000000, last);
}
