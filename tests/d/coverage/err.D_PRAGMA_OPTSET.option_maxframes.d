/* ASSERTION: maxframes refuses a value that is none. */
#pragma D option maxframes=@none@

BEGIN
{
	exit(0);
}
