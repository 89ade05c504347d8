/* ASSERTION: dynvarsize refuses a value that is none. */
#pragma D option dynvarsize=@none@

BEGIN
{
	exit(0);
}
