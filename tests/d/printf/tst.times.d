/*
 * ASSERTION: %Y prints nanoseconds since 1970 as local time, the day padded with a blank, %T as RFC 822 does.
 */
#pragma D option quiet

BEGIN
{
	printf("%Y|%T|\n", (int64_t)0, (int64_t)0);
	printf("%Y|%25Y|%-25Y|\n", 1700000000000000000, 1700000000000000000, 1700000000000000000);
	exit(0);
}
