/* ASSERTION: cleanpath() collapses what it can, by the text alone. */
#pragma D option quiet

BEGIN
{
	printf("%s\n", cleanpath("/foo/bar//baz/"));
	printf("%s\n", cleanpath("/foo/./bar/../baz"));
	printf("%s\n", cleanpath("/../../x"));
	printf("%s\n", cleanpath("foo/.././bar"));
	printf("%s\n", cleanpath("/foo/..bar/.baz"));
	printf("%s\n", cleanpath("/foo/bar/.."));
	printf("%s\n", cleanpath("/foo/."));
	printf("[%s]\n", cleanpath(""));
	exit(0);
}
