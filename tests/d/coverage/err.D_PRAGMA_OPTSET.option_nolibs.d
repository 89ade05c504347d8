/* ASSERTION: nolibs is for the command line only. */
#pragma D option nolibs=1

BEGIN
{
	exit(0);
}
