/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A member that the input does not have.
 */
struct in { int i; char c; };
struct out { int i; char *s; };
translator struct out < struct in *p > { i = p->nothing; };

BEGIN
{
	exit(0);
}
