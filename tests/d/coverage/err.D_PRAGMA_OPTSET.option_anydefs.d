/* ASSERTION: anydefs refuses a value that is none. */
#pragma D option anydefs=@none@

BEGIN
{
	exit(0);
}
