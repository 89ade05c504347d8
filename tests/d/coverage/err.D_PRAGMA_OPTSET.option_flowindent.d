/* ASSERTION: flowindent refuses a value that is none. */
#pragma D option flowindent=@none@

BEGIN
{
	exit(0);
}
