/* ASSERTION: ctypes is for the command line only. */
#pragma D option ctypes=1

BEGIN
{
	exit(0);
}
