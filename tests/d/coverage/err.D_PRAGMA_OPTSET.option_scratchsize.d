/* ASSERTION: scratchsize refuses a value that is none. */
#pragma D option scratchsize=@none@

BEGIN
{
	exit(0);
}
