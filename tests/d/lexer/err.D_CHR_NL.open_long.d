/*
 * ASSERTION: A character constant without a closing quote is open at the end of its line, however much of that line
 * stands behind it: it is not called too long.
 */
BEGIN
{
	first = 'x; second = first + 1000; trace(second);
	exit(0);
}
