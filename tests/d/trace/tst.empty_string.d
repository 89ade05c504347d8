/*
 * ASSERTION: trace() shows an empty string as text in its column, as it shows one that has the size of an
 * integer.
 */
#pragma D option strsize=4

BEGIN
{
	s = "";
	trace("");
	trace(s);
	trace("end");
	exit(0);
}
