/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The comma operator evaluates both sides and gives the right one.
 */
#pragma D option quiet

BEGIN
{
	x = (1, 2);
	printf("%d\n", x);
	z = (y = 3, y + 1);
	printf("%d %d\n", y, z);
	exit(0);
}
