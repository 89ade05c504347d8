/* ASSERTION: version refuses a value that is none. */
#pragma D option version=@none@

BEGIN
{
	exit(0);
}
