/* ASSERTION: tregs refuses a value that is none. */
#pragma D option tregs=@none@

BEGIN
{
	exit(0);
}
