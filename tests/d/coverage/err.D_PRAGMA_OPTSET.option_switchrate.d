/* ASSERTION: switchrate refuses a value that is none. */
#pragma D option switchrate=@none@

BEGIN
{
	exit(0);
}
