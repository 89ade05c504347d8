/* ASSERTION: quiet refuses a value that is none. */
#pragma D option quiet=@none@

BEGIN
{
	exit(0);
}
