/* ASSERTION: modpath is for the command line only. */
#pragma D option modpath=1

BEGIN
{
	exit(0);
}
