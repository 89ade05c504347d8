/* ASSERTION: an integer's type is the first that fits, by its base and suffix. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 10, 010, 0x10, 0XfF);
	printf("%d %d %d %d\n", sizeof(2147483647), sizeof(2147483648), sizeof(0x80000000), sizeof(0x100000000));
	printf("%d %d %d %d\n", sizeof(1u), sizeof(1l), sizeof(1UL), sizeof(1ull));
	printf("%d %d %d\n", 0x80000000 > 0, 0xffffffffffffffff > 0, 18446744073709551615 > 0);
	printf("%d %u\n", 9223372036854775807, 18446744073709551615u);
	exit(0);
}
