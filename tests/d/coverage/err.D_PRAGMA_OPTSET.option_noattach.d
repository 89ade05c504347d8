/* ASSERTION: noattach is for the command line only. */
#pragma D option noattach
BEGIN
{
	exit(0);
}
