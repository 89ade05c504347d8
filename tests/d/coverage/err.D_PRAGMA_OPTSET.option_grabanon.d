/* ASSERTION: grabanon refuses a value that is none. */
#pragma D option grabanon=@none@

BEGIN
{
	exit(0);
}
