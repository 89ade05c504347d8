/* ASSERTION: noresolve refuses a value that is none. */
#pragma D option noresolve=@none@

BEGIN
{
	exit(0);
}
