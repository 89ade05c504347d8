/* A line each second: what happened in it. */
#pragma D option quiet

int seconds;
int calls;
int forks;

BEGIN
{
	printf("%8s %8s %8s\n", "SECOND", "CALLS", "FORKS");
}

syscall:::entry
{
	calls++;
}

syscall::clone:entry,
syscall::fork:entry,
syscall::vfork:entry
{
	forks++;
}

tick-1s
{
	printf("%8d %8d %8d\n", ++seconds, calls, forks);
	calls = 0;
	forks = 0;
}

tick-1s
/seconds == 4/
{
	exit(0);
}
