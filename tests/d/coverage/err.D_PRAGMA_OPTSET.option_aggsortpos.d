/* ASSERTION: aggsortpos refuses a value that is none. */
#pragma D option aggsortpos=@none@

BEGIN
{
	exit(0);
}
