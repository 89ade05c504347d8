/* ASSERTION: argref refuses a value that is none. */
#pragma D option argref=@none@

BEGIN
{
	exit(0);
}
