/* ASSERTION: lockmem refuses a value that is none. */
#pragma D option lockmem=@none@

BEGIN
{
	exit(0);
}
