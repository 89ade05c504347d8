/* ASSERTION: rawbytes refuses a value that is none. */
#pragma D option rawbytes=@none@

BEGIN
{
	exit(0);
}
