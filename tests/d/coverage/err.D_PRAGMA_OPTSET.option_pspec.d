/* ASSERTION: pspec refuses a value that is none. */
#pragma D option pspec=@none@

BEGIN
{
	exit(0);
}
