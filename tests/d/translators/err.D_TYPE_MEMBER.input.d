/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The input has no such member.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { i = p->nothing; };

BEGIN
{
	exit(0);
}
