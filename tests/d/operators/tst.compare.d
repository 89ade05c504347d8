/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Comparisons are signed unless the promoted type is unsigned.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 1 < 2, 2 <= 2, 3 > 4, 4 >= 5);
	printf("%d %d\n", 1 == 1, 1 != 1);
	printf("%d %d\n", -1 < 1, -1LL < 1ULL);
	exit(0);
}
