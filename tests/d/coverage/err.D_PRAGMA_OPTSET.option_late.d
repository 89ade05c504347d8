/* ASSERTION: late refuses a value that is none. */
#pragma D option late=@none@

BEGIN
{
	exit(0);
}
