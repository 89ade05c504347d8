/* ASSERTION: stackindent refuses a value that is none. */
#pragma D option stackindent=@none@

BEGIN
{
	exit(0);
}
