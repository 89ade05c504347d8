/* ASSERTION: cleanrate refuses a value that is none. */
#pragma D option cleanrate=@none@

BEGIN
{
	exit(0);
}
