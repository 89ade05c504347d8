/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Members of array elements and thread-local structs can be stored before anything else was; the rest is zeros.
 */
#pragma D option quiet

struct point {
	int x, y;
	string name;
};
struct point at[int];
self struct point own;
int i;

BEGIN
{
	at[i].y = 7;
	at[i].name = "first";
	i++;
	at[i].name = "second";
	self->own.x = 5;
	printf("%d %d %s\n", at[0].x, at[0].y, at[0].name);
	printf("%d %d %s\n", at[1].x, at[1].y, at[1].name);
	printf("%d %d\n", self->own.x, self->own.y);
	printf("%d [%s]\n", at[9].y, at[9].name);
	exit(0);
}
