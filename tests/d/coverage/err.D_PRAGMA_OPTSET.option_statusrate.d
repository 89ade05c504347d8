/* ASSERTION: statusrate refuses a value that is none. */
#pragma D option statusrate=@none@

BEGIN
{
	exit(0);
}
