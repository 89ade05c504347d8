/* ASSERTION: linktype refuses a value that is none. */
#pragma D option linktype=@none@

BEGIN
{
	exit(0);
}
