/* ASSERTION: linkmode is for the command line only. */
#pragma D option linkmode=1

BEGIN
{
	exit(0);
}
