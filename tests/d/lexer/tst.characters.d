/*
 * ASSERTION: character constants hold up to eight characters and C's escapes; any other backslash is a
 * character, also in '\''.
 */
#pragma D option quiet

BEGIN
{
	printf("%x %x %x\n", 'a', 'ab', 'abcdefgh');
	printf("%d %d %d %d %d %d %d\n", '\a', '\b', '\f', '\n', '\r', '\t', '\v');
	printf("%d %d %d %d %d %d\n", '\0', '\101', '\x41', '\"', '\\', '\0103');
	printf("%x %x %x %x\n", '\'', '\?', '\c', '\"\ba');
	printf("%d %d\n", '\377', '\xfe');
	printf("%c%c %d %d\n", 'x', '\x79', sizeof('a'), '"');
	exit(0);
}
