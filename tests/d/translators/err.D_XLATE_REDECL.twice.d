/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: There is one translator for a pair of types.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { i = p->i; };
translator struct out < struct in *q > { i = 1; };

BEGIN
{
	exit(0);
}
