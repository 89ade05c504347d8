/*
 * ASSERTION: What has a NUL inside, or is not printable, is dumped; blanks, tabs and newlines are
 * printable, and an empty string is one.
 */
#pragma D option quiet
#pragma D option strsize=12

char odd[3];

BEGIN
{
	trace("a b\tc\n");
	trace("\001x");
	trace("");
	odd[0] = 'a';
	odd[2] = 'b';
	trace(odd);
	exit(0);
}
