/* ASSERTION: bufpolicy refuses a value that is none. */
#pragma D option bufpolicy=@none@

BEGIN
{
	exit(0);
}
