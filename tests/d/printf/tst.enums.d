/*
 * ASSERTION: Enums print as integers.
 */
#pragma D option quiet

enum colour { RED = -1, GREEN = 5 };
enum colour c;

BEGIN
{
	c = GREEN;
	printf("%d %x %d %5d|\n", c, c, RED, GREEN);
	exit(0);
}
