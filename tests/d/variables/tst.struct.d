/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Members of a struct variable are written and read; the copy is by value.
 */
#pragma D option quiet

struct point {
	int x;
	short y;
	char name[8];
};
struct point p;
struct point q;

BEGIN
{
	p.x = 3;
	p.y = -4;
	q = p;
	p.x = 5;
	printf("%d %d %d %d\n", p.x, p.y, q.x, q.y);
	exit(0);
}
