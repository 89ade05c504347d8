/* ASSERTION: strsize refuses a value that is none. */
#pragma D option strsize=@none@

BEGIN
{
	exit(0);
}
