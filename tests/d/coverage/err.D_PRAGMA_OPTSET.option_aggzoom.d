/* ASSERTION: aggzoom refuses a value that is none. */
#pragma D option aggzoom=@none@

BEGIN
{
	exit(0);
}
