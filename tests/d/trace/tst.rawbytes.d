/*
 * ASSERTION: With rawbytes trace() dumps strings, not integers.
 */
#pragma D option quiet
#pragma D option rawbytes
#pragma D option strsize=20

BEGIN
{
	trace("some text");
	trace(65);
	trace("x");
	exit(0);
}
