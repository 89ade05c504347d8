/* ASSERTION: droptags refuses a value that is none. */
#pragma D option droptags=@none@

BEGIN
{
	exit(0);
}
