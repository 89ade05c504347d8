/* ASSERTION: empty refuses a value that is none. */
#pragma D option empty=@none@

BEGIN
{
	exit(0);
}
