/* ASSERTION: tree refuses a value that is none. */
#pragma D option tree=@none@

BEGIN
{
	exit(0);
}
