/* ASSERTION: strings have C's escapes; before any other character a backslash stays; a backslash joins lines. */
#pragma D option quiet

BEGIN
{
	printf("[%s]\n", "tab\there, \101\x42C, \"quoted\", \\ and \q");
	printf("[%s] [%s]\n", "two \
lines", "");
	printf("%d %d\n", strlen("a\0b"), strlen("\n\n"));
	exit(0);
}
