/* ASSERTION: cpp is for the command line only. */
#pragma D option cpp=1

BEGIN
{
	exit(0);
}
