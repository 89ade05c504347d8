/* ASSERTION: aggpack refuses a value that is none. */
#pragma D option aggpack=@none@

BEGIN
{
	exit(0);
}
