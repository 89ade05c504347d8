/* ASSERTION: objcopypath is for the command line only. */
#pragma D option objcopypath=1

BEGIN
{
	exit(0);
}
