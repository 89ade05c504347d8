/* ASSERTION: syslibdir is for the command line only. */
#pragma D option syslibdir=1

BEGIN
{
	exit(0);
}
