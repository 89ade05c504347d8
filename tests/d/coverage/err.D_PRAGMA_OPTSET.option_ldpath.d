/* ASSERTION: ldpath is for the command line only. */
#pragma D option ldpath=1

BEGIN
{
	exit(0);
}
