/* ASSERTION: pgmax refuses a value that is none. */
#pragma D option pgmax=@none@

BEGIN
{
	exit(0);
}
