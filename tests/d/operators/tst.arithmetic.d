/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Integer arithmetic; division and modulo truncate towards zero.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", 7 + 3, 7 - 10, 7 * -3);
	printf("%d %d %d\n", 7 / 2, -7 / 2, 7 / -2);
	printf("%d %d %d\n", 7 % 3, -7 % 3, 7 % -3);
	exit(0);
}
