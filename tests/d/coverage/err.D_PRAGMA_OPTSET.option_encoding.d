/* ASSERTION: encoding refuses a value that is none. */
#pragma D option encoding=@none@

BEGIN
{
	exit(0);
}
