/* ASSERTION: jstackframes refuses a value that is none. */
#pragma D option jstackframes=@none@

BEGIN
{
	exit(0);
}
