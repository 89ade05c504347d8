/* ASSERTION: unodefs refuses a value that is none. */
#pragma D option unodefs=@none@

BEGIN
{
	exit(0);
}
