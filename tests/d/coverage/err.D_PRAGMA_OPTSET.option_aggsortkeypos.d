/* ASSERTION: aggsortkeypos refuses a value that is none. */
#pragma D option aggsortkeypos=@none@

BEGIN
{
	exit(0);
}
