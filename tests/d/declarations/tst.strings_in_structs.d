/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string that is stored in a struct is copied, and cut where there is no room.
 */
#pragma D option quiet


struct named { int before; string name; int after; };
struct named v;

BEGIN
{
	v.before = 1;
	v.after = 2;
	v.name = "hello";
	printf("%d [%s] %d\n", v.before, v.name, v.after);
	v.name = strjoin(v.name, " there");
	printf("%d [%s] %d %d\n", v.before, v.name, v.after, strlen(v.name));
	exit(0);
}
