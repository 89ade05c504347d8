/* ASSERTION: ustackframes refuses a value that is none. */
#pragma D option ustackframes=@none@

BEGIN
{
	exit(0);
}
