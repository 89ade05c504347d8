/* ASSERTION: aggpercpu refuses a value that is none. */
#pragma D option aggpercpu=@none@

BEGIN
{
	exit(0);
}
