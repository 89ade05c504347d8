/* ASSERTION: procfspath is for the command line only. */
#pragma D option procfspath=1

BEGIN
{
	exit(0);
}
