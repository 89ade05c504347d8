/* ASSERTION: bufresize refuses a value that is none. */
#pragma D option bufresize=@none@

BEGIN
{
	exit(0);
}
