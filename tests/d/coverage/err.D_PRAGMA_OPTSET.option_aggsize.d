/* ASSERTION: aggsize refuses a value that is none. */
#pragma D option aggsize=@none@

BEGIN
{
	exit(0);
}
