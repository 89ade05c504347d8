/* ASSERTION: cppargs is for the command line only. */
#pragma D option cppargs=1

BEGIN
{
	exit(0);
}
