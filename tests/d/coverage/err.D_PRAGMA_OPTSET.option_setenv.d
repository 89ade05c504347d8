/* ASSERTION: setenv is for the command line only. */
#pragma D option setenv=1

BEGIN
{
	exit(0);
}
