/* ASSERTION: printsize refuses a value that is none. */
#pragma D option printsize=@none@

BEGIN
{
	exit(0);
}
