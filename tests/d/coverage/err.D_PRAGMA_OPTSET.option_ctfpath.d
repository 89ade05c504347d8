/* ASSERTION: ctfpath is for the command line only. */
#pragma D option ctfpath=1

BEGIN
{
	exit(0);
}
