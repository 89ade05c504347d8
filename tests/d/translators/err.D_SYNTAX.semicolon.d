/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translator ends with a semicolon.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { i = p->i; }

BEGIN
{
	exit(0);
}
