/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Only members that the translator defines can be read.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { i = p->i; };
struct in *p;

BEGIN
{
	trace(xlate <struct out> (p).s);
	exit(0);
}
