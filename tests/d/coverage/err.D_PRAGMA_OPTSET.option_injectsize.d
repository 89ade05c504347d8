/* ASSERTION: injectsize is for the command line only. */
#pragma D option injectsize=64k

BEGIN
{
	exit(0);
}
