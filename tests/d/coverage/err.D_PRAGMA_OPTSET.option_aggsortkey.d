/* ASSERTION: aggsortkey refuses a value that is none. */
#pragma D option aggsortkey=@none@

BEGIN
{
	exit(0);
}
