/* ASSERTION: bufsize refuses a value that is none. */
#pragma D option bufsize=@none@

BEGIN
{
	exit(0);
}
