/* ASSERTION: ttl refuses a value that is none. */
#pragma D option ttl=@none@

BEGIN
{
	exit(0);
}
