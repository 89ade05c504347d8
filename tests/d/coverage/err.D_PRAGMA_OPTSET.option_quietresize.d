/* ASSERTION: quietresize refuses a value that is none. */
#pragma D option quietresize=@none@

BEGIN
{
	exit(0);
}
