/* ASSERTION: undef is for the command line only. */
#pragma D option undef=1

BEGIN
{
	exit(0);
}
