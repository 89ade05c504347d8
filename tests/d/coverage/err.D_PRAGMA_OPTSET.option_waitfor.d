/* ASSERTION: waitfor is for the command line only. */
#pragma D option waitfor=sh

BEGIN
{
	exit(0);
}
