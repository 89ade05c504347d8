/* ASSERTION: ttl refuses a value that is no time. */
#pragma D option ttl=5hz

BEGIN
{
	exit(0);
}
