/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: ++ and -- before and after; on a new name they make an int64_t.
 */
#pragma D option quiet

BEGIN
{
	x = 5;
	printf("%d\n", x++);
	printf("%d\n", ++x);
	printf("%d\n", x--);
	printf("%d\n", --x);
	n++;
	n++;
	printf("%d %d\n", n, sizeof(n));
	exit(0);
}
