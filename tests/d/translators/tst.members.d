/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Members of a translated value are read one by one, by value, through a pointer and
 * through what the pointer leads to.
 */
#pragma D option quiet

struct point { int px; int py; };
struct size { int width; string label; };
translator struct size < struct point p > {
	width = p.px * 2;
	label = p.py ? "high" : "flat";
};
struct point at;

BEGIN
{
	at.px = 21;
	printf("%d %s\n", xlate <struct size> (at).width, xlate <struct size> (at).label);
	at.py = 1;
	printf("%s\n", xlate <struct size *> (at)->label);
	printf("%d\n", (*xlate <struct size *> (at)).width);
	exit(0);
}
