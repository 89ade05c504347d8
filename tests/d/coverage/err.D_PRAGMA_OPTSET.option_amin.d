/* ASSERTION: amin refuses a value that is none. */
#pragma D option amin=@none@

BEGIN
{
	exit(0);
}
