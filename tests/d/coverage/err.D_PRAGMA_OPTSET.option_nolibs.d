/* ASSERTION: nolibs is on or off. */
#pragma D option nolibs=perhaps

BEGIN
{
	exit(0);
}
