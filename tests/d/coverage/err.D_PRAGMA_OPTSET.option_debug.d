/* ASSERTION: debug refuses a value that is none. */
#pragma D option debug=@none@

BEGIN
{
	exit(0);
}
