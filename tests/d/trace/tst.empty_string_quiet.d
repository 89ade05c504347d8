/* ASSERTION: with quiet an empty string is nothing, one that has the size of an integer its text. */
#pragma D option quiet
#pragma D option strsize=8

BEGIN
{
	trace("");
	trace("[");
	trace("");
	trace("eight!");
	trace("]");
	exit(0);
}
