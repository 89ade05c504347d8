/* ASSERTION: bpflogsize refuses a value that is none. */
#pragma D option bpflogsize=@none@

BEGIN
{
	exit(0);
}
