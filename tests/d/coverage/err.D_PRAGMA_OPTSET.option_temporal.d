/* ASSERTION: temporal refuses a value that is none. */
#pragma D option temporal=@none@

BEGIN
{
	exit(0);
}
