/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Of an undefined struct no member can be had.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct never *p > { i = p->i; };

BEGIN
{
	exit(0);
}
