/* ASSERTION: linkmode refuses a value that is none. */
#pragma D option linkmode=@none@

BEGIN
{
	exit(0);
}
