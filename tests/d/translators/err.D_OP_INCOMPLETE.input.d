/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An undefined struct has no members.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct never *p > { i = p->i; };

BEGIN
{
	exit(0);
}
