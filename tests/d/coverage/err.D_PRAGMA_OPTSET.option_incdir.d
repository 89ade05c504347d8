/* ASSERTION: incdir is for the command line only. */
#pragma D option incdir=1

BEGIN
{
	exit(0);
}
