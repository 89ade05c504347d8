/* ASSERTION: specsize refuses a value that is none. */
#pragma D option specsize=@none@

BEGIN
{
	exit(0);
}
