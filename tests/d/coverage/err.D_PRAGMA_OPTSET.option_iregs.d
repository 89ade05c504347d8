/* ASSERTION: iregs refuses a value that is none. */
#pragma D option iregs=@none@

BEGIN
{
	exit(0);
}
