/* ASSERTION: aggrate refuses a value that is none. */
#pragma D option aggrate=@none@

BEGIN
{
	exit(0);
}
