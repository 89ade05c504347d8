/* ASSERTION: defaultargs refuses a value that is none. */
#pragma D option defaultargs=@none@

BEGIN
{
	exit(0);
}
