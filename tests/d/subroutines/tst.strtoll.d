/* ASSERTION: strtoll() skips blanks, takes a sign, and stops where the digits of its base end. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", strtoll("42"), strtoll(" \t-42 and more"), strtoll("+7"));
	printf("%d %d %d\n", strtoll(""), strtoll("x"), strtoll("- 1"));
	printf("%d %d %d\n", strtoll("0x1F", 16), strtoll("1f", 16), strtoll("0x1f"));
	printf("%d %d %d\n", strtoll("1012", 2), strtoll("0178", 8), strtoll("Zz", 36));
	printf("%d\n", strtoll("9223372036854775808"));
	printf("%d\n", strtoll("\n1"));
	exit(0);
}
