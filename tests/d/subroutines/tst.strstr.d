/* ASSERTION: strstr() points to the first occurrence; an empty needle is found at once. */
#pragma D option quiet

BEGIN
{
	printf("%s [%s]\n", strstr("foobarbaz", "ba"), strstr("foobarbaz", ""));
	printf("%d %d\n", strstr("foo", "foot") == NULL, strstr("", "x") == NULL);
	printf("%s\n", strstr("aaab", "aab"));
	exit(0);
}
