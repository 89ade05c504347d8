/* ASSERTION: pcapsize refuses a value that is none. */
#pragma D option pcapsize=@none@

BEGIN
{
	exit(0);
}
