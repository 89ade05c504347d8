/* ASSERTION: agghist refuses a value that is none. */
#pragma D option agghist=@none@

BEGIN
{
	exit(0);
}
