/* ASSERTION: jstackstrsize refuses a value that is none. */
#pragma D option jstackstrsize=@none@

BEGIN
{
	exit(0);
}
