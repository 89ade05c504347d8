/* ASSERTION: libdir is for the command line only. */
#pragma D option libdir=1

BEGIN
{
	exit(0);
}
