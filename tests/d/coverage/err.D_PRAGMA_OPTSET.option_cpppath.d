/* ASSERTION: cpppath is for the command line only. */
#pragma D option cpppath=1

BEGIN
{
	exit(0);
}
