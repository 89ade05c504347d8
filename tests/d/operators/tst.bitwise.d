/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Bitwise operators and shifts; a signed right shift is arithmetic.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 12 & 10, 12 | 3, 12 ^ 10, ~5);
	printf("%d %d %x\n", 1 << 4, -16 >> 2, 0xff00 >> 8);
	printf("%x\n", 1ULL << 63);
	printf("%x\n", (1ULL << 63) >> 60);
	exit(0);
}
