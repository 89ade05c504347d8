/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translator member takes what could be assigned to it: a character is no pointer.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { s = p->c; };

BEGIN
{
	exit(0);
}
