/* ASSERTION: errtags refuses a value that is none. */
#pragma D option errtags=@none@

BEGIN
{
	exit(0);
}
