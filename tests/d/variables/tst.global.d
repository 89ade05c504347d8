/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A declared global starts as 0; a constant is cut to its type, and it shows as wide as
 * that.
 */
#pragma D option quiet

int n;
char c;
uint16_t u;

BEGIN
{
	printf("%d %d\n", n, c);
	c = 300;
	u = -1;
	n = c + 1;
	printf("%d %d %d\n", n, c, u);
	exit(0);
}
