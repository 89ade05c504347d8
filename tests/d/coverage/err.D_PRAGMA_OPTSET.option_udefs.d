/* ASSERTION: udefs refuses a value that is none. */
#pragma D option udefs=@none@

BEGIN
{
	exit(0);
}
