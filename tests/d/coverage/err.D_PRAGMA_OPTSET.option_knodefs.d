/* ASSERTION: knodefs refuses a value that is none. */
#pragma D option knodefs=@none@

BEGIN
{
	exit(0);
}
