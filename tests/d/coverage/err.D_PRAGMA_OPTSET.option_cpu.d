/* ASSERTION: cpu refuses a value that is none. */
#pragma D option cpu=@none@

BEGIN
{
	exit(0);
}
