/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: && and || do not evaluate what does not matter.
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
