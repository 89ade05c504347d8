/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Operators bind as in C; ^^ stands between && and ||.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", 2 + 3 * 4, (2 + 3) * 4, 10 - 4 - 3);
	printf("%d %d %d\n", 2 << 1 + 1, 1 | 2 ^ 3 & 2, -2 * -3);
	printf("%d %d %d\n", (7 && 0) ^^ 1, 7 && 0 ^^ 1, 1 || 1 ^^ 1);
	printf("%d\n", !0 + 1);
	exit(0);
}
