/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: && and || do not evaluate an operand that cannot change the result.
 */
#pragma D option quiet

BEGIN
{
	x = 0;
	y = 0 && ++x;
	printf("%d %d\n", y, x);
	y = 1 || ++x;
	printf("%d %d\n", y, x);
	y = 1 && ++x;
	printf("%d %d\n", y, x);
	exit(0);
}
