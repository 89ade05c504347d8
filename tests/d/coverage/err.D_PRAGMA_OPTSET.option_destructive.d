/* ASSERTION: destructive refuses a value that is none. */
#pragma D option destructive=@none@

BEGIN
{
	exit(0);
}
