/* ASSERTION: kdefs refuses a value that is none. */
#pragma D option kdefs=@none@

BEGIN
{
	exit(0);
}
