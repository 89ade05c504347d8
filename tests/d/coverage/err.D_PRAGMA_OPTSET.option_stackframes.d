/* ASSERTION: stackframes refuses a value that is none. */
#pragma D option stackframes=@none@

BEGIN
{
	exit(0);
}
