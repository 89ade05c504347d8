/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Compound assignments.
 */
#pragma D option quiet

BEGIN
{
	x = 10;
	x += 5;
	printf("%d\n", x);
	x -= 3;
	printf("%d\n", x);
	x *= 2;
	printf("%d\n", x);
	x /= 5;
	printf("%d\n", x);
	x %= 3;
	printf("%d\n", x);
	x <<= 6;
	printf("%d\n", x);
	x >>= 2;
	printf("%d\n", x);
	x |= 3;
	printf("%d\n", x);
	x &= 0x12;
	printf("%d\n", x);
	x ^= 0xff;
	printf("%d\n", x);
	exit(0);
}
