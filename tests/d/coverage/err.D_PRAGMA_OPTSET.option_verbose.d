/* ASSERTION: verbose refuses a value that is none. */
#pragma D option verbose=@none@

BEGIN
{
	exit(0);
}
