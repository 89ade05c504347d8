/* ASSERTION: evaltime refuses a value that is none. */
#pragma D option evaltime=@none@

BEGIN
{
	exit(0);
}
