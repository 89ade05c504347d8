/* ASSERTION: noerror refuses a value that is none. */
#pragma D option noerror=@none@

BEGIN
{
	exit(0);
}
