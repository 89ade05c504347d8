/* ASSERTION: unsetenv is for the command line only. */
#pragma D option unsetenv=1

BEGIN
{
	exit(0);
}
