/*
 * ASSERTION: The flags %# %0 %- %+ %' %? and the space print what they stand for; of 0 and - the last
 * one counts.
 */
#pragma D option quiet

BEGIN
{
	printf("%#x %#o %#p|\n", 255, 8, 16);
	printf("%08d|%08x|%08d|\n", 42, 42, -42);
	printf("%-8d|%-8s|\n", 42, "ab");
	printf("%0-8d|%-08d|\n", 42, 42);
	printf("%+d|%+d|% d|% d|\n", 42, -42, 42, -42);
	printf("%'d|\n", 1234567);
	printf("%?x|%?p|%?d|\n", 255, 255, 255);
	exit(0);
}
