/* ASSERTION: aggsortrev refuses a value that is none. */
#pragma D option aggsortrev=@none@

BEGIN
{
	exit(0);
}
