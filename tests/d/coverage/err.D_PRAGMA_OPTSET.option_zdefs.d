/* ASSERTION: zdefs refuses a value that is none. */
#pragma D option zdefs=@none@

BEGIN
{
	exit(0);
}
