/* ASSERTION: strchr() and strrchr() find a character, the NUL too, or nothing. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", strchr("fooeyfooeyfoo", 'y'), strrchr("fooeyfooeyfoo", 'y'));
	printf("%d %d\n", strchr("abc", 'd') == NULL, strrchr("", 'd') == NULL);
	printf("[%s] [%s]\n", strchr("abc", '\0'), strrchr("abc", '\0'));
	printf("%s\n", strchr("abc", 0x162));
	exit(0);
}
